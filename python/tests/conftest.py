"""What all tests share."""

import signal

# A shell that runs the tests in the background has them ignore Ctrl-C, and so would all programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
