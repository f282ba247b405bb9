// Kernels of GPUs on the host's fibers: the source is put between the header and this text. Reads arrays, each a count
// and that many doubles, from a file; writes forces, work, both again by
// stored matrices where stresses are stored, the solution of a solve, the rate.
#include <cstdio>
#include <vector>

static FILE *file;
static std::vector<double> next() {
    double count = 0;
    if (fread(&count, 8, 1, file) != 1) exit(2);
    std::vector<double> out((size_t)count);
    if (count > 0 && fread(out.data(), 8, out.size(), file) != out.size()) exit(2);
    return out;
}
static std::vector<unsigned> whole() {
    std::vector<double> d = next();
    return std::vector<unsigned>(d.begin(), d.end());
}

int main(int, char **names) {
    file = fopen(names[1], "rb");
    std::vector<double> r = next();
    rules own_rules = {r[0], r[1], (long long)r[2], (long long)r[3], (long long)r[4]};
    const long long zones = (long long)r[5], nodes = (long long)r[6];
    const unsigned corner_bytes = (unsigned)r[7], solve_bytes = (unsigned)r[8];
    auto index = whole(), begin = whole(), shares = whole(), held8 = whole();
    auto x = next(), u = next(), e = next(), gamma = next(), p_inf = next(), mass = next(), start = next(), over = next();
    std::vector<unsigned char> constrained(held8.begin(), held8.end());
    std::vector<double> stress(zones * D * D * POINTS), source(zones * POINTS), own(zones * LOCAL * D),
        right(zones * ENERGIES);
    unsigned long long rate = 0;
    const dim3 grid{(unsigned)((zones + ZONES - 1) / ZONES), 1, 1}, shape{THREADS, 1, 1};
    greenup::launch(grid, shape, corner_bytes, [&] {
        corner({own_rules, zones, nodes, index.data(), x.data(), u.data(), e.data(), gamma.data(), p_inf.data(), mass.data(),
                start.data(), stress.data(), source.data(), own.data(), right.data(), &rate});
    });
    if (STORED) {
        greenup::launch(grid, shape, corner_bytes, [&] { force(zones, stress.data(), own.data()); });
        greenup::launch(grid, shape, corner_bytes, [&] {
            work(own_rules, zones, nodes, index.data(), u.data(), stress.data(), source.data(), right.data());
        });
    }
    const std::vector<double> forces = own;
    // By stored matrices: again forces and work.
    std::vector<double> stored;
    if (STORED) {
        std::vector<double> corner(zones * D * LOCAL * ENERGIES), by_matrix(zones * LOCAL * D), work(zones * ENERGIES);
        const dim3 grid{(unsigned)zones, 1, 1}, wide{64, 1, 1};
        greenup::launch(grid, {MATRIX_THREADS, 1, 1}, 0, [&] { corner_matrix(zones, stress.data(), corner.data()); });
        greenup::launch(grid, wide, 0, [&] { corner_ones(zones, corner.data(), by_matrix.data()); });
        greenup::launch(grid, wide, 0, [&] {
            corner_transposed(own_rules, zones, nodes, index.data(), u.data(), corner.data(), source.data(), work.data());
        });
        stored = by_matrix;
        stored.insert(stored.end(), work.begin(), work.end());
    }
    std::vector<double> out(nodes * D), a(nodes * D), b(nodes * D), c(nodes * D), products(2 * D);
    unsigned grid_barrier[2] = {0, 0};
    unsigned long long counted[2] = {0, 0};
    // One block: with more, fibers of one would wait for another that has not begun.
    greenup::launch({1, 1, 1}, {SOLVE_THREADS, 1, 1}, solve_bytes, [&] {
        solve({zones, nodes, index.data(), begin.data(), shares.data(), mass.data(), own.data(), nullptr, over.data(),
              constrained.data(), nullptr, nullptr, nullptr, out.data(), a.data(), b.data(), c.data(), nullptr, products.data(), grid_barrier,
              counted, 1e-13, 300});
    });
    FILE *to = fopen(names[2], "wb");
    double last[2] = {__longlong_as_double((long long)rate), (double)counted[1]};
    fwrite(forces.data(), 8, forces.size(), to);
    fwrite(right.data(), 8, right.size(), to);
    fwrite(stored.data(), 8, stored.size(), to);
    fwrite(out.data(), 8, out.size(), to);
    fwrite(last, 8, 2, to);
    return fclose(to);
}
