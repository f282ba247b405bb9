/* Regions: time, energy and power of named parts of a running program. C and C++.
 *
 *   cc app.c -I. -L. -lgreenup_regions
 *
 *   greenup_region_begin("solve");
 *   ...
 *   greenup_region_end("solve");
 *
 * Regions nest; each thread has its own. When the program exits, a table is printed to standard error. Environment:
 *
 *   GREENUP_REGIONS         off | table | summary | lines, or several with commas [default: table; summary with a file]
 *   GREENUP_REGIONS_FILE    JSON lines are appended to this file; %p process id, %r rank, %h host
 *   GREENUP_REGIONS_SENSOR  ids of `greenup doctor`, external:FILE, simulated:WATTS, none [default: one of each device]
 *   GREENUP_REGIONS_EVERY   also write a summary of the run so far after each so many seconds
 *
 * With -DGREENUP_NO_REGIONS all calls disappear and no library is needed.
 */
#ifndef GREENUP_H
#define GREENUP_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GREENUP_NO_REGIONS

/* Begins a region in this thread, within those that are open. Bytes of the name beyond 256 are cut. */
void greenup_region_begin(const char *name);

/* Ends a region of this thread; NULL ends the innermost one. Regions within it that are still open end too. A name that
 * is not open is ignored. Both are reported when the program exits. */
void greenup_region_end(const char *name);

/* Writes the lines that are complete and, with `summary`, one of the run so far. Waits for the sensors' next tick, half
 * a second at most. Returns 0, or -1 if something could not be written. */
int greenup_flush(void);

/* Number of energy sensors that are read; 0: time alone; -1: regions are off. */
int greenup_available(void);

#else

static inline void greenup_region_begin(const char *name) { (void)name; }
static inline void greenup_region_end(const char *name) { (void)name; }
static inline int greenup_flush(void) { return 0; }
static inline int greenup_available(void) { return -1; }

#endif

#ifdef __cplusplus
}

namespace greenup {

/* A region as long as the object lives: `greenup::Region region("solve");`. The name must live as long. */
class Region {
  public:
    explicit Region(const char *name) : name_(name) { greenup_region_begin(name_); }
    ~Region() { greenup_region_end(name_); }
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;

  private:
    const char *name_;
};

} // namespace greenup
#endif

#define GREENUP_JOIN_(a, b) a##b
#define GREENUP_JOIN(a, b) GREENUP_JOIN_(a, b)

/* GREENUP_REGION("name"); a region until the end of the block, also by return, break or an exception. */
#ifdef __cplusplus
#define GREENUP_REGION(name) ::greenup::Region GREENUP_JOIN(greenup_region_, __LINE__)(name)
#elif defined(__GNUC__) || defined(__clang__)
static inline void greenup_region_leave_(const char **name) { greenup_region_end(*name); }
static inline const char *greenup_region_enter_(const char *name) {
    greenup_region_begin(name);
    return name;
}
#define GREENUP_REGION(name)                                                                                           \
    const char *GREENUP_JOIN(greenup_region_, __LINE__)                                                                \
        __attribute__((cleanup(greenup_region_leave_), unused)) = greenup_region_enter_(name)
#endif

#endif /* GREENUP_H */
