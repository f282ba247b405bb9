#define STEP(x) (2.0 * (x))
