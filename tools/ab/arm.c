/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arms, and their difference.
 */
#include "tools/ab/arm.h"

#include "tools/host_info.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS_MOST = 512 };

/* ---- words ---- */

char *hbg__ab_words(const char *command)
{
    char *words = malloc(strlen(command) + 2), *to = words, quote = '\0';
    bool inside = false;

    if (!words)
        return NULL;
    for (const char *at = command; *at; at++) {
        if (quote ? *at == quote : *at == '\'' || *at == '"') {
            quote = quote ? '\0' : *at;
            inside = true;
        } else if (!quote && strchr(" \t\n", *at)) {
            if (inside)
                *to++ = '\0';
            inside = false;
        } else {
            at += *at == '\\' && quote != '\'' && at[1];
            *to++ = *at;
            inside = true;
        }
    }
    if (inside)
        *to++ = '\0';
    *to = '\0';
    return words;
}

static bool is_assignment(const char *word)
{
    size_t name = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

    return name && word[name] == '=' && !(*word >= '0' && *word <= '9');
}

static const char *next_word(const char *word)
{
    return word + strlen(word) + 1;
}

/* ---- the program ---- */

bool hbg__ab_program_find(const char *word, char *path)
{
    const char *folders = getenv("PATH");
    char candidate[PATH_MAX];

    if (strchr(word, '/'))
        return access(word, X_OK) == 0 && realpath(word, path);
    for (const char *at = folders ? folders : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, at, word);
        if (access(candidate, X_OK) == 0 && realpath(candidate, path))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);       /* FNV-1a */
    return hash;
}

struct mapped { const unsigned char *bytes; size_t size; };

static bool map_file(const char *path, struct mapped *map)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;

    *map = (struct mapped){ .bytes = NULL };
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED)
            *map = (struct mapped){ bytes, (size_t)about.st_size };
    }
    if (file >= 0)
        close(file);
    return map->bytes != NULL;
}

/* The note that a linker leaves, in hexadecimal; "" without one. `interpreted` is set where the file asks for a loader. */
static void read_elf(const struct mapped *map, char *text, size_t size, bool *interpreted)
{
    Elf64_Ehdr head;

    text[0] = '\0';
    *interpreted = false;
    if (map->size < sizeof head || memcmp(map->bytes, ELFMAG, SELFMAG) != 0 || map->bytes[EI_CLASS] != ELFCLASS64)
        return;
    memcpy(&head, map->bytes, sizeof head);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;
        uint64_t at = head.e_phoff + (uint64_t)i * head.e_phentsize;

        if (at > map->size || map->size - at < sizeof part)
            return;
        memcpy(&part, map->bytes + at, sizeof part);
        *interpreted |= part.p_type == PT_INTERP;
        if (part.p_type != PT_NOTE || part.p_offset > map->size || map->size - part.p_offset < part.p_filesz)
            continue;
        for (uint64_t note = part.p_offset, end = note + part.p_filesz; note + sizeof(Elf64_Nhdr) <= end;) {
            Elf64_Nhdr n;
            uint64_t value;

            memcpy(&n, map->bytes + note, sizeof n);
            value = note + sizeof n + ((n.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
            if (value > end || end - value < n.n_descsz)
                break;
            for (uint32_t k = 0; n.n_type == NT_GNU_BUILD_ID && k < n.n_descsz && 2 * k + 3 < size; k++)
                snprintf(text + 2 * k, size - 2 * k, "%02x", map->bytes[value + k]);
            note = value + ((n.n_descsz + UINT64_C(3)) & ~UINT64_C(3));
        }
    }
}

/* The first line that a program prints, with its arguments and environment already quoted. */
static bool first_lines(const char *program, const char *before, const char *behind, char *text, size_t size)
{
    char command[2 * PATH_MAX];
    FILE *pipe;
    size_t got;

    if (strchr(program, '\''))
        return false;
    snprintf(command, sizeof command, "%s '%s' %s 2>/dev/null </dev/null", before, program, behind);
    pipe = popen(command, "re");
    if (!pipe)
        return false;
    got = fread(text, 1, size - 1, pipe);
    text[got] = '\0';
    return pclose(pipe) == 0 && got > 0;
}

/* One hash of all libraries outside of the system's folders that the loader finds for a program. */
static bool look_at_libraries(struct ab_facts *facts, const char *program)
{
    char text[16384], *line, *rest = text;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    int count = 0;

    if (!first_lines(program, "LD_TRACE_LOADED_OBJECTS=1", "", text, sizeof text))
        return true;
    while ((line = strsep(&rest, "\n"))) {
        char *path = strstr(line, "=> /"), *end = path ? strstr(path, " (0x") : NULL;
        struct mapped map;

        if (!end)
            continue;
        path += 3;
        *end = '\0';
        if (strncmp(path, "/lib", 4) == 0 || strncmp(path, "/usr/lib", 8) == 0 || !map_file(path, &map))
            continue;
        hash = hash_bytes(hash, map.bytes, map.size);
        munmap((void *)(uintptr_t)map.bytes, map.size);
        count++;
    }
    return !count || hbg__ab_fact(facts, "libraries", "%016" PRIx64 " (%d of its own)", hash, count);
}

static bool look_at_program(struct ab_facts *facts, const char *word)
{
    char path[PATH_MAX], id[2 * 64 + 1], version[256];
    struct mapped map;
    bool good, interpreted = false;

    if (!hbg__ab_program_find(word, path))
        return hbg__ab_fact(facts, "program", "%s (no file)", word);
    good = hbg__ab_fact(facts, "program", "%s", path);
    if (!map_file(path, &map))
        return good;
    good = good && hbg__ab_fact(facts, "hash", "%016" PRIx64, hash_bytes(UINT64_C(0xcbf29ce484222325), map.bytes, map.size));
    read_elf(&map, id, sizeof id, &interpreted);
    munmap((void *)(uintptr_t)map.bytes, map.size);
    if (*id)
        good = good && hbg__ab_fact(facts, "build id", "%s", id);
    if (interpreted)
        good = good && look_at_libraries(facts, path);
    if (strcmp(strrchr(path, '/'), "/hbg") == 0 && first_lines(path, "", "version", version, sizeof version)) {
        version[strcspn(version, "\n")] = '\0';
        good = good && hbg__ab_fact(facts, "version", "%s", version);
    }
    return good;
}

/* A word that is the path of a file, in this folder as well: its bytes belong to the arm, as those of a script or an input. */
static bool look_at_file(struct ab_facts *facts, const char *word)
{
    struct mapped map;
    bool good;

    if (!map_file(word, &map))
        return true;
    good = hbg__ab_fact(facts, "file", "%016" PRIx64 " %s", hash_bytes(UINT64_C(0xcbf29ce484222325), map.bytes, map.size), word);
    munmap((void *)(uintptr_t)map.bytes, map.size);
    return good;
}

bool hbg__ab_arm_look(struct ab_facts *facts, const char *command)
{
    char *words = hbg__ab_words(command);
    const char *first = words;
    bool good = words != NULL;

    if (!words)
        return false;
    for (; *first && is_assignment(first); first = next_word(first))
        good = good && hbg__ab_fact(facts, "environment", "%s", first);
    for (const char *word = first; *word; word = next_word(word))
        good = good && hbg__ab_fact(facts, word == first ? "command" : "word", "%s", word);
    good = good && (!*first || look_at_program(facts, first));
    for (const char *word = *first ? next_word(first) : first; *word; word = next_word(word))
        good = good && look_at_file(facts, word);
    free(words);
    return good;
}

/* ---- the difference ---- */

/* Facts of one kind, in their order. */
static size_t pick(const struct ab_facts *facts, const char *name, const char **value)
{
    size_t count = 0;

    for (size_t i = 0; i < facts->count && count < WORDS_MOST; i++)
        if (strcmp(facts->fact[i].name, name) == 0)
            value[count++] = facts->fact[i].value;
    return count;
}

/* An option and its value are one thing: a word that begins with a dash, or one that follows none. */
static int units(const char *const *word, size_t from, size_t to)
{
    int count = 0;

    for (size_t i = from; i < to; i++)
        count += word[i][0] == '-' || i == from || word[i - 1][0] != '-';
    return count;
}

static void join(const char *const *word, size_t from, size_t to, char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "%s", from == to ? "(nothing)" : "");
    for (size_t i = from; i < to && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > from ? " " : "", word[i]);
}

/* Lists of words, by their longest common row. Returns how many causes the differences are, or -1. */
static int compare_words(struct ab_facts *differences, const struct ab_facts *a, const struct ab_facts *b, const char *name)
{
    const char *x[WORDS_MOST], *y[WORDS_MOST];
    size_t nx = pick(a, name, x), ny = pick(b, name, y), i = 0, k = 0;
    uint16_t (*same)[WORDS_MOST + 1] = calloc(nx + 1, sizeof *same);
    int causes = 0;

    if (!same)
        return -1;
    for (size_t p = nx; p-- > 0;)
        for (size_t q = ny; q-- > 0;)
            same[p][q] = strcmp(x[p], y[q]) == 0 ? (uint16_t)(same[p + 1][q + 1] + 1) : same[p + 1][q] > same[p][q + 1] ? same[p + 1][q] : same[p][q + 1];
    while (i < nx || k < ny) {
        size_t from_i = i, from_k = k;
        char left[512], right[512];

        while ((i < nx || k < ny) && !(i < nx && k < ny && strcmp(x[i], y[k]) == 0)) {
            if (k == ny || (i < nx && same[i + 1][k] >= same[i][k + 1]))
                i++;
            else
                k++;
        }
        if (i > from_i || k > from_k) {
            int of_a = units(x, from_i, i), of_b = units(y, from_k, k);
            join(x, from_i, i, left, sizeof left);
            join(y, from_k, k, right, sizeof right);
            if (!hbg__ab_fact(differences, name, "%s | %s", left, right)) {
                free(same);
                return -1;
            }
            causes += of_a > of_b ? of_a : of_b;
        } else {
            i++;
            k++;
        }
    }
    free(same);
    return causes;
}

int hbg__ab_arms_compare(struct ab_facts *differences, const struct ab_facts *a, const struct ab_facts *b)
{
    static const char *const of_program[] = { "hash", "build id", "libraries", "version" };
    int environment = compare_words(differences, a, b, "environment"), words = compare_words(differences, a, b, "word");
    bool program = false, good = environment >= 0 && words >= 0;
    const char *path[2] = { hbg__ab_fact_get(a, "program"), hbg__ab_fact_get(b, "program") };

    for (size_t i = 0; i < sizeof of_program / sizeof *of_program; i++) {
        const char *x = hbg__ab_fact_get(a, of_program[i]), *y = hbg__ab_fact_get(b, of_program[i]);
        if (strcmp(x ? x : "", y ? y : "") == 0)
            continue;
        program = true;
        good = good && hbg__ab_fact(differences, of_program[i], "%s | %s", x ? x : "(none)", y ? y : "(none)");
    }
    /* another path to the same bytes is no difference; the shell's own words have no bytes */
    if (path[0] && path[1] && strcmp(path[0], path[1]) != 0 && (program || !hbg__ab_fact_get(a, "hash"))) {
        program = true;
        good = good && hbg__ab_fact(differences, "program", "%s | %s", path[0], path[1]);
    }
    return good ? environment + words + program : -1;
}

/* ---- the machine ---- */

static bool fact_of_file(struct ab_facts *facts, const char *name, const char *path)
{
    char line[256] = "";
    FILE *file = fopen(path, "re");

    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    return hbg__ab_fact(facts, name, "%s", *line ? line : "not told");
}

/* The number of the installation tells machines of one kind apart; it is nobody else's business, so that its hash is told. */
static bool look_at_machine(struct ab_facts *facts)
{
    static const char salt[] = "hbg ab: ";
    uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), (const unsigned char *)salt, sizeof salt);
    char line[256] = "";
    FILE *file = fopen("/etc/machine-id", "re");

    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    if (!*line && gethostname(line, sizeof line - 1) != 0)
        return hbg__ab_fact(facts, "machine", "not told");
    return hbg__ab_fact(facts, "machine", "%016" PRIx64, hash_bytes(hash, (const unsigned char *)line, strlen(line)));
}

/* "0-3,6": the CPUs that this process may use. */
static const char *allowed(char *text, size_t size)
{
    cpu_set_t set;
    size_t used = 0;

    text[0] = '\0';
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return "not told";
    for (int first = 0; first < CPU_SETSIZE && used < size; first++) {
        int last = first;

        if (!CPU_ISSET(first, &set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
            last++;
        used += (size_t)snprintf(text + used, size - used, last > first ? "%s%d-%d" : "%s%d", used ? "," : "", first, last);
        first = last;
    }
    return text;
}

bool hbg__ab_host_look(struct ab_facts *facts)
{
    static const struct { const char *name, *path; } files[] = {
        { "kernel", "/proc/sys/kernel/osrelease" },
        { "clock source", "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
        { "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor" },
        { "boost", "/sys/devices/system/cpu/cpufreq/boost" },
        { "SMT", "/sys/devices/system/cpu/smt/control" },
        { "huge pages", "/sys/kernel/mm/transparent_hugepage/enabled" },
        { "address randomisation", "/proc/sys/kernel/randomize_va_space" },
        { "NUMA balancing", "/proc/sys/kernel/numa_balancing" },
        { "CPUs online", "/sys/devices/system/cpu/online" },
    };
    static const char *const of_cpu[] = { "model name", "microcode" };
    struct host_info host;
    bool good = look_at_machine(facts);
    char line[512];

    for (size_t i = 0; i < sizeof of_cpu / sizeof *of_cpu; i++) {
        FILE *file = fopen("/proc/cpuinfo", "re");
        const char *value = "not told";

        while (file && fgets(line, sizeof line, file)) {
            char *colon = strchr(line, ':');
            if (strncmp(line, of_cpu[i], strlen(of_cpu[i])) != 0 || !colon)
                continue;
            line[strcspn(line, "\n")] = '\0';
            value = colon + 1 + strspn(colon + 1, " ");
            break;
        }
        good = good && hbg__ab_fact(facts, i ? "microcode" : "processor", "%s", value);
        if (file)
            fclose(file);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        good = good && fact_of_file(facts, files[i].name, files[i].path);
    hbg__host_info_get(&host);
    good = good && hbg__ab_fact(facts, "affinity", "%d of %ld CPUs: %s", host.processors_allowed, host.processors_online, allowed(line, sizeof line));
    good = good && (host.quota > 0.0 ? hbg__ab_fact(facts, "CPU limit", "%g CPUs", host.quota) : hbg__ab_fact(facts, "CPU limit", "none"));
    return good && hbg__ab_fact(facts, "compiler of hbg", "%s", __VERSION__);
}

/* ---- around the arms ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool hbg__ab_surroundings_look(struct ab_facts *facts)
{
    static const char *const begin[] = { "HBG_TRACE", "HBG_VERIFY_REPLAY", "OMP_", "GOMP_", "KMP_", "OPENBLAS_", "GOTO_", "BLIS_", "MKL_", "STARPU_", "TBB_",
                                         "LD_", "MALLOC_", "GLIBC_TUNABLES", "CUDA_", "NVIDIA_", "LANG", "LC_" };
    const char *found[WORDS_MOST];
    size_t count = 0;
    char folder[PATH_MAX];
    bool good = hbg__ab_fact(facts, "folder", "%s", getcwd(folder, sizeof folder) ? folder : "not told");

    for (char **variable = environ; *variable && count < WORDS_MOST; variable++)
        for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
            if (strncmp(*variable, begin[i], strlen(begin[i])) == 0) {
                found[count++] = *variable;
                break;
            }
    if (count)
        qsort(found, count, sizeof *found, by_text);
    for (size_t i = 0; i < count; i++)
        good = good && hbg__ab_fact(facts, "variable", "%s", found[i]);
    return good;
}
