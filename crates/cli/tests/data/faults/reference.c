void twice(double *out, const double *in) {
    for (long i = 0; i < size; i++) out[i] = in[i] + in[i];
}
