void gemm(float *c, const float *a, const float *b) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double row[n];
        for (int j = 0; j < n; j++)
            row[j] = 0;
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                row[j] += (double)a[i * n + k] * b[k * n + j];
        for (int j = 0; j < n; j++)
            c[i * n + j] = (float)row[j];
    }
}
