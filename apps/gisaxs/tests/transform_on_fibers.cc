// Runs the kernels of grid.cu on fibers: the transform of a surface on a tensor grid. Arrays in: nodes, q_y, q_z, rule of
// the window, numbers. Out: F, then the cells of three ways to spread, each integer as two halves.

static std::vector<std::vector<double>> arrays(const char *name) {
    FILE *f = fopen(name, "rb");
    std::vector<std::vector<double>> all;
    double n;
    while (fread(&n, 8, 1, f) == 1) {
        std::vector<double> a((size_t)n);
        if (fread(a.data(), 8, a.size(), f) != a.size()) exit(1);
        all.push_back(a);
    }
    fclose(f);
    return all;
}

static dim3 blocks(long long across, long long down, unsigned threads) {
    dim3 d;
    d.x = (unsigned)((across + threads - 1) / threads);
    d.y = (unsigned)down;
    return d;
}

int main(int, char **names) {
    auto in = arrays(names[1]);
    auto &node = in[0], &qy = in[1], &qz = in[2], &rule = in[3], &x = in[4];
    const long long nodes = node.size() / 6, ny = qy.size(), nz = qz.size() / 2;
    const long long down = (long long)x[0], across = (long long)x[1];
    const int width = (int)x[2];
    const double beta = x[3], unit = x[4], qx = x[5];
    const double *y = &x[6], *z = &x[9], *centre = &x[12];
    typedef std::vector<unsigned long long> Cells;
    auto run = [&](const double *from, long long count, unsigned threads, Cells &to) {
        dim3 shape;
        shape.x = threads;
        greenup::launch(blocks(count * width, 1, threads), shape, 0, [&] {
            spread(count, from, qx, y[0], y[1], y[2], z[0], z[1], z[2], width, beta, 1 / unit, across, to.data());
        });
    };
    const size_t size = 6 * down * across;
    Cells all(size), reversed(size), parts(size);
    run(node.data(), nodes, 128, all);
    // The last node first, in other blocks.
    std::vector<double> back;
    for (long long n = nodes - 1; n >= 0; n--) back.insert(back.end(), &node[6 * n], &node[6 * n] + 6);
    run(back.data(), nodes, 96, reversed);
    // Three devices.
    for (int part = 0; part < 3; part++) {
        const long long from = nodes * part / 3, to = nodes * (part + 1) / 3;
        Cells own(size);
        run(node.data() + 6 * from, to - from, 64, own);
        for (size_t i = 0; i < size; i++) parts[i] += own[i];
    }
    std::vector<double2> waves_y(down * ny);
    std::vector<pair> columns(across * nz), first(across * ny), second(across * ny), f(ny * nz);
    std::vector<Four> sums(ny * nz);
    const int points = (int)rule.size() / 2;
    const double2 *of_rule = (const double2 *)rule.data();
    dim3 line;
    line.x = 128;
    greenup::launch(blocks(nz, 8, 128), line, 0, [&] {
        waves(nz, qz.data(), 1, z[2], z[0], z[1], width, points, of_rule, centre[2], across, nullptr, columns.data());
    });
    greenup::launch(blocks(ny, 8, 128), line, 0, [&] {
        waves(ny, qy.data(), 0, y[2], y[0], y[1], width, points, of_rule, centre[1], down, waves_y.data(), nullptr);
    });
    greenup::launch(blocks(ny, across, 128), line, 0, [&] {
        along(down, across, (const long long *)all.data(), unit, ny, qy.data(), qx, centre[0], waves_y.data(),
              first.data(), second.data());
    });
    dim3 tile, tiles;
    tile.x = tile.y = 16;
    tiles.x = (unsigned)((ny + 63) / 64);
    tiles.y = (unsigned)((nz + 63) / 64);
    greenup::launch(tiles, tile, 0, [&] {
        product(across, ny, first.data(), second.data(), nz, columns.data(), qy.data(), (const double2 *)qz.data(), qx, 0,
                0, 0, sums.data(), f.data());
    });
    FILE *out = fopen(names[2], "wb");
    fwrite(f.data(), 16, f.size(), out);
    for (const Cells *c : {&all, &reversed, &parts})
        for (unsigned long long n : *c) {
            const double halves[2] = {(double)(n >> 32), (double)(n & 0xffffffffu)};
            fwrite(halves, 8, 2, out);
        }
    return fclose(out);
}
