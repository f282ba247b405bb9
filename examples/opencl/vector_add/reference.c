void vector_add(float *c, const float *a, const float *b, int length) {
    for (int i = 0; i < length; i++)
        c[i] = a[i] + b[i];
}
