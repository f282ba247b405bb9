void convolution(float *out, const float *image, const float *filter) {
#pragma omp parallel for
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            double sum = 0;
            for (int i = 0; i < size; i++)
                for (int j = 0; j < size; j++)
                    sum += (double)filter[i * size + j] * image[(y + i) * (n + size - 1) + x + j];
            out[y * n + x] = (float)sum;
        }
}
