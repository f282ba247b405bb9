// A vector of `width` floats (1, 2, 4, 8 or 16), loaded from and stored to any address.
#define GREENUP_JOIN(a, b) a##b
#define GREENUP_OF(a, b) GREENUP_JOIN(a, b)
#if width == 1
typedef float vec;
#define LOAD(p) (*(p))
#define STORE(v, p) (*(p) = (v))
#else
typedef GREENUP_OF(float, width) vec;
#define LOAD(p) GREENUP_OF(vload, width)(0, p)
#define STORE(v, p) GREENUP_OF(vstore, width)(v, 0, p)
#endif
