// c = a + b. A work-item adds `each` vectors of `width` floats: neighbouring ones, or (strided) one of every block.
#include "vectors.h"

__kernel void vector_add(__global float *restrict c, __global const float *restrict a, __global const float *restrict b,
                         const int length) {
    const int start = get_group_id(0) * block * each;
    for (int k = 0; k < each; k++) {
        const int item = strided ? k * block + get_local_id(0) : get_local_id(0) * each + k;
        const int i = (start + item) * width;
        if (i + width <= length)
            STORE(LOAD(a + i) + LOAD(b + i), c + i);
        else
            for (int j = i; j < length; j++)
                c[j] = a[j] + b[j];
    }
}
