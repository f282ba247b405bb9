// Runs launches on the host's fibers: the kernels' source is put between the header and this text, and a line for each of
// them into the switch. Reads arrays, each a count and that many doubles: the launches; which memory is the result, and how
// many there are; each memory, whose doubles are bytes of anything. Writes the result.
#include <cstdio>
#include <vector>

static FILE *file;
static std::vector<double> next() {
    double count = 0;
    if (fread(&count, 8, 1, file) != 1) exit(2);
    std::vector<double> in((size_t)count);
    if (count > 0 && fread(in.data(), 8, in.size(), file) != in.size()) exit(2);
    return in;
}

int main(int, char **names) {
    file = fopen(names[1], "rb");
    const std::vector<double> launches = next(), which = next();
    std::vector<std::vector<double>> memory((size_t)which[1]);
    for (auto &m : memory) m = next();
    for (const double *l = launches.data(), *end = l + launches.size(); l < end;) {
        const int kernel = (int)l[0], count = (int)l[6];
        const dim3 grid = {(unsigned)l[1], (unsigned)l[2], (unsigned)l[3]}, shape = {(unsigned)l[4], 1, 1};
        const unsigned shared = (unsigned)l[5];
        l += 7;
        // Room for an argument of any kind.
        std::vector<double> own(count);
        std::vector<void *> a(count);
        for (int k = 0; k < count; k++, l += 2) {
            a[k] = &own[k];
            const long long whole = (long long)l[1];
            const int small = (int)whole;
            const float single = (float)l[1];
            if (l[0] == 0) a[k] = memory[(size_t)l[1]].data();
            else if (l[0] == 1) memcpy(a[k], &whole, 8);
            else if (l[0] == 2) memcpy(a[k], &small, 4);
            else if (l[0] == 3) memcpy(a[k], &l[1], 8);
            else memcpy(a[k], &single, 4);
        }
        switch (kernel) {
        // KERNELS
        default: exit(3);
        }
    }
    const std::vector<double> &result = memory[(size_t)which[0]];
    FILE *to = fopen(names[2], "wb");
    fwrite(result.data(), 8, result.size(), to);
    return fclose(to);
}
