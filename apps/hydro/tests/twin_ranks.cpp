// A solve by several ranks on the host's fibers: the source is put between the header and this text. Each rank is a process
// whose memory the others see, so they run at the same time; or all ranks run in parts, with messages copied between them.
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

// Its header has a function named as one of the kernels'.
extern "C" int wait(int *);

static FILE *file;
static char *pool, *pool_end;
template <class T> T *room(size_t n) {
    T *out = (T *)pool;
    pool += (n * sizeof(T) + 63) / 64 * 64 + 64;
    if (pool > pool_end) exit(3);
    return out;
}
static size_t length;
template <class T> T *next() {
    double count = 0;
    if (fread(&count, 8, 1, file) != 1) exit(2);
    length = (size_t)count;
    T *out = room<T>(length);
    for (size_t i = 0; i < length; i++) {
        double x;
        if (fread(&x, 8, 1, file) != 1) exit(2);
        out[i] = (T)x;
    }
    return out;
}

struct of_rank {
    solve_arguments a;
    // For by zone and by rank: numbers of the contributions, what is sent, and lengths by rank.
    unsigned long long *at[2];
    size_t at_count[2], send_count[2];
    unsigned *send[2];
    double *lengths[2], *received[2], *message[2];
};

int main(int, char **names) {
    const size_t size = 256u << 20;
    pool = (char *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pool == MAP_FAILED) return 4;
    pool_end = pool + size;
    file = fopen(names[1], "rb");
    const double *head = next<double>();
    const int ranks = (int)head[0], staged = (int)head[1], full = (int)head[2], lost = (int)head[4];
    const unsigned bytes = (unsigned)head[3];
    std::vector<of_rank> all(ranks);
    rank_meeting **meetings = room<rank_meeting *>(ranks);
    unsigned *stop = room<unsigned>(1);
    for (int me = 0; me < ranks; me++) {
        of_rank &r = all[me];
        solve_arguments &a = r.a;
        const double *sizes = next<double>();
        a = {};
        a.zones = (long long)sizes[0], a.nodes = (long long)sizes[1];
        a.index = next<unsigned>(), a.begin = next<unsigned>(), a.shares = next<unsigned>();
        a.constrained = next<unsigned char>();
        a.mass = next<double>(), a.over = next<double>(), a.own = next<double>();
        const unsigned *row = next<unsigned>(), *columns = next<unsigned>();
        const double *values = next<double>();
        if (full) a.row = row, a.columns = columns, a.values = values;
        for (int k = 0; k < 2; k++) {
            (k ? a.team.by_rank : a.team.by_zone).begin = next<unsigned>();
            r.at[k] = next<unsigned long long>(), r.at_count[k] = length;
            r.send[k] = next<unsigned>(), r.send_count[k] = length;
            r.lengths[k] = next<double>();
            r.received[k] = room<double>(D * (length ? (size_t)r.lengths[k][2 * ranks] : 0));
            r.message[k] = room<double>(D * r.send_count[k]);
        }
        const size_t n = a.nodes * D;
        a.out = room<double>(n), a.x = room<double>(n), a.r = room<double>(n), a.p = room<double>(n);
        a.image = room<double>(n), a.products = room<double>(2 * D);
        a.grid_barrier = room<unsigned>(4), a.counted = room<unsigned long long>(2);
        a.tolerance = 1e-13, a.max_iterations = 300;
        meetings[me] = room<rank_meeting>(1);
        a.team.meetings = meetings, a.team.stop = stop, a.team.ranks = ranks, a.team.me = me;
    }
    // Numbers of contributions are (rank << 40) + place, of received ones (ranks << 40) + place.
    for (of_rank &r : all)
        for (int k = 0; k < 2; k++) {
            const double **at = room<const double *>(r.at_count[k]);
            for (size_t i = 0; i < r.at_count[k]; i++) {
                const unsigned long long from = r.at[k][i] >> 40, place = r.at[k][i] & ((1ull << 40) - 1);
                at[i] = from == (unsigned)ranks ? r.received[k] + place : (k ? all[from].a.image : all[from].a.own) + place;
            }
            (k ? r.a.team.by_rank : r.a.team.by_zone).at = at;
        }
    const dim3 block{SOLVE_THREADS, 1, 1};
    if (staged) {
        auto exchange = [&](int k) {
            for (of_rank &r : all)
                greenup::launch({1, 1, 1}, block, 0, [&] {
                    pack((long long)r.send_count[k], r.send[k], k ? r.a.image : r.a.own, r.message[k]);
                });
            for (int to = 0; to < ranks; to++) {
                double *next = all[to].received[k];
                for (int from = 0; from < ranks; from++) {
                    // lengths: {to send to, to receive from} each rank, then all to receive.
                    const size_t count = D * (size_t)all[to].lengths[k][2 * from + 1];
                    size_t skip = 0;
                    for (int before = 0; before < to; before++) skip += D * (size_t)all[from].lengths[k][2 * before];
                    memcpy(next, all[from].message[k] + skip, count * 8);
                    next += count;
                }
            }
        };
        std::vector<solve_part> parts;
        for (of_rank &r : all) parts.push_back({r.a, {}, {}});
        auto run = [&](void (*kernel)(solve_part), unsigned shared) {
            for (solve_part &p : parts) greenup::launch({1, 1, 1}, block, shared, [&] { kernel(p); });
        };
        auto sum = [&](int c) {
            double s = 0;
            for (of_rank &r : all) s += r.a.products[c];
            return s;
        };
        exchange(0);
        run(part_begin, 0);
        double now[3] = {}, end[3] = {};
        for (int c = 0; c < D; c++) now[c] = sum(c), end[c] = 1e-26 * now[c];
        for (int i = 0; i < 300; i++) {
            bool active[3] = {}, any = false;
            for (int c = 0; c < D; c++) any |= active[c] = now[c] > end[c] && now[c] > 0;
            if (!any) break;
            run(part_product, bytes);
            exchange(full ? 1 : 0);
            for (int c = 0; c < D; c++)
                for (solve_part &p : parts) p.alpha[c] = active[c] ? now[c] / sum(c) : 0;
            run(part_residual, 0);
            for (int c = 0; c < D; c++) {
                const double next = sum(c);
                for (solve_part &p : parts) p.beta[c] = active[c] ? next / now[c] : 0;
                if (active[c]) now[c] = next;
            }
            run(part_direction, 0);
        }
        run(part_end, 0);
    } else {
        for (int me = 0; me < ranks; me++) {
            if (fork() != 0) continue;
            if (me == lost) {
                // A rank that ends instead of arriving.
                *(volatile unsigned *)stop = 1;
                _exit(0);
            }
            // Twice: the second begins where the first left barriers and meetings.
            std::vector<double> own(all[me].a.own, all[me].a.own + all[me].a.zones * LOCAL * D);
            greenup::launch({1, 1, 1}, block, bytes, [&] { solve(all[me].a); });
            memcpy(all[me].a.own, own.data(), own.size() * 8);
            greenup::launch({1, 1, 1}, block, bytes, [&] { solve(all[me].a); });
            _exit(0);
        }
        for (int me = 0; me < ranks; me++) {
            int status = 1;
            if (wait(&status) < 0 || status) return 5;
        }
    }
    FILE *to = fopen(names[2], "wb");
    for (of_rank &r : all) {
        const double last[2] = {(double)r.a.grid_barrier[3], (double)r.a.counted[1]};
        fwrite(r.a.out, 8, r.a.nodes * D, to);
        fwrite(last, 8, 2, to);
    }
    return fclose(to);
}
