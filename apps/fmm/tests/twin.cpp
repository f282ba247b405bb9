// U lists on the host's fibers: the kernels' source is put between the header and this text. Reads arrays, each a count
// and that many doubles, from a file; writes the sums.
#include <cstdio>
#include <vector>

static FILE *file;
template <class T> static std::vector<T> next() {
    double count = 0;
    if (fread(&count, 8, 1, file) != 1) exit(2);
    std::vector<double> in((size_t)count);
    if (count > 0 && fread(in.data(), 8, in.size(), file) != in.size()) exit(2);
    return std::vector<T>(in.begin(), in.end());
}

int main(int, char **names) {
    file = fopen(names[1], "rb");
    auto flat = next<real>(), more = next<real>(), x = next<real>(), y = next<real>(), z = next<real>();
    auto items = next<int>(), ranges = next<int>();
    const real k = next<real>()[0];
    std::vector<real4> places(flat.size() / 4);
    for (size_t i = 0; i < places.size(); i++) places[i] = {flat[4 * i], flat[4 * i + 1], flat[4 * i + 2], flat[4 * i + 3]};
    std::vector<real> out(x.size() * OUT);
    more.push_back(0);
    greenup::launch({(unsigned)(items.size() / 5), 1, 1}, {THREADS, 1, 1}, 0, [&] {
        near_points(places.data(), more.data(), x.data(), y.data(), z.data(), items.data(), ranges.data(), out.data(),
                    (long long)x.size(), k);
    });
    std::vector<double> wide(out.begin(), out.end());
    FILE *to = fopen(names[2], "wb");
    fwrite(wide.data(), 8, wide.size(), to);
    return fclose(to);
}
