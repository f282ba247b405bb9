"""Spaces of configs: restrictions and the expressions that they are made of."""
