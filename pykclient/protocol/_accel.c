/* The native twin of pure.py, pure_columns.py, pure_runs.py, pure_murmur2.py, pure_batches.py, pure_crc.py and
 * batch_builder.append: same arguments, same bytes, same errors.
 *
 * Stateless functions over buffers, and two value types for what is made per sent record. No length is used before it
 * was compared with what remains, and whatever is measured in a first pass is checked again while it is written, so
 * that memory which another thread changes in between cannot lead outside a buffer. The GIL is released where no Python object is touched (columns, murmur2 of a column).
 *
 * Not the limited API: records are made by writing the nine slots of ConsumerRecord at their offsets
 * (PyMemberDescrObject), and bytes and tuples are read through macros. Both are what makes decoding to objects worth
 * having a C file for.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#define HARDWARE_CRC __attribute__((target("sse4.2")))
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define HARDWARE_CRC
#endif

#ifndef Py_T_OBJECT_EX
#define Py_T_OBJECT_EX T_OBJECT_EX
#endif
#ifndef Py_BEGIN_CRITICAL_SECTION /* before 3.13 there was one lock for all */
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

#define RECORD_SLOTS 9
#define RECORD_BYTES_MIN 7
#define VARINT_BYTES_MAX 5
#define VARLONG_BYTES_MAX 10
#define BATCH_HEADER_BYTES 61

static const char *const SLOT_NAMES[RECORD_SLOTS] = {"topic", "partition", "offset",  "timestamp",   "timestamp_type",
                                                     "key",   "value",     "headers", "leader_epoch"};

typedef struct {
    PyObject *corrupt_record_error;
    PyTypeObject *consumer_record;
    Py_ssize_t slots[RECORD_SLOTS];
    PyTypeObject *open_batch;
    PyTypeObject *sent_record;
    uint32_t crc_table[8][256]; /* constants: computed when the module is made, never changed */
    uint32_t crc_shift[4][256]; /* what CRC_LANE_BYTES zero bytes make of each byte of a checksum */
    int crc_in_hardware;
} State;

/* ---------------------------------------------------------------- varints */

static inline uint64_t zigzag(int64_t number)
{
    return ((uint64_t)number << 1) ^ (uint64_t)(number >> 63);
}

static inline int varint_size(int64_t number)
{
    uint64_t rest = zigzag(number);
    int size = 1;
    while (rest > 0x7f) {
        rest >>= 7;
        size++;
    }
    return size;
}

static inline uint8_t *put_varint(uint8_t *out, int64_t number)
{
    uint64_t rest = zigzag(number);
    while (rest > 0x7f) {
        *out++ = (uint8_t)(rest | 0x80);
        rest >>= 7;
    }
    *out++ = (uint8_t)rest;
    return out;
}

/* Reads at most 5 bytes; NULL when the bytes end first or go on. Excess bits of the fifth byte are dropped, as Java
does. */
static inline const uint8_t *get_varint(const uint8_t *at, const uint8_t *end, int32_t *number)
{
    uint32_t raw = 0;
    if (at < end && *at < 0x80) { /* most lengths and deltas */
        *number = (int32_t)((uint32_t)(*at >> 1) ^ (0u - (*at & 1u)));
        return at + 1;
    }
    for (int shift = 0; shift < 7 * VARINT_BYTES_MAX; shift += 7) {
        if (at >= end)
            return NULL;
        uint8_t byte = *at++;
        raw |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *number = (int32_t)((raw >> 1) ^ (0u - (raw & 1)));
            return at;
        }
    }
    return NULL;
}

static inline const uint8_t *get_varlong(const uint8_t *at, const uint8_t *end, int64_t *number)
{
    uint64_t raw = 0;
    if (at < end && *at < 0x80) {
        *number = (int64_t)((uint64_t)(*at >> 1) ^ (UINT64_C(0) - (*at & 1u)));
        return at + 1;
    }
    for (int shift = 0; shift < 7 * VARLONG_BYTES_MAX; shift += 7) {
        if (at >= end)
            return NULL;
        uint8_t byte = *at++;
        raw |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *number = (int64_t)((raw >> 1) ^ (UINT64_C(0) - (raw & 1)));
            return at;
        }
    }
    return NULL;
}

static inline int64_t add_wrapping(int64_t left, int64_t right)
{
    return (int64_t)((uint64_t)left + (uint64_t)right);
}
static inline int64_t subtract_wrapping(int64_t left, int64_t right)
{
    return (int64_t)((uint64_t)left - (uint64_t)right);
}

/* ---------------------------------------------------------------- CRC-32C */

#define CRC32C_POLYNOMIAL 0x82f63b78u
#define CRC_LANE_BYTES 1024
/* Some microseconds: from here on others may run meanwhile. */
#define CRC_BYTES_ALONE (32 * 1024)

static uint32_t crc_software(const State *state, uint32_t crc, const uint8_t *at, Py_ssize_t size)
{
    const uint32_t(*table)[256] = state->crc_table;
    for (; size >= 8; size -= 8, at += 8) {
        crc ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        crc = table[7][crc & 0xff] ^ table[6][crc >> 8 & 0xff] ^ table[5][crc >> 16 & 0xff] ^ table[4][crc >> 24] ^
              table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
    }
    for (; size > 0; size--)
        crc = table[0][(crc ^ *at++) & 0xff] ^ crc >> 8;
    return crc;
}

#ifdef HARDWARE_CRC
static inline uint64_t load_word(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

#ifdef __x86_64__
#define CRC_WORD(crc, word) (uint32_t) _mm_crc32_u64(crc, word)
#define CRC_BYTE(crc, byte) _mm_crc32_u8(crc, byte)
#else
#define CRC_WORD(crc, word) __crc32cd(crc, word)
#define CRC_BYTE(crc, byte) __crc32cb(crc, byte)
#endif

static inline uint32_t crc_shifted(const State *state, uint32_t crc)
{
    const uint32_t(*shift)[256] = state->crc_shift;
    return shift[0][crc & 0xff] ^ shift[1][crc >> 8 & 0xff] ^ shift[2][crc >> 16 & 0xff] ^ shift[3][crc >> 24];
}

/* Three lanes at a time: the instruction takes three cycles, and one can begin in each of them. */
HARDWARE_CRC static uint32_t crc_hardware(const State *state, uint32_t crc, const uint8_t *at, Py_ssize_t size)
{
    for (; size >= 3 * CRC_LANE_BYTES; size -= 3 * CRC_LANE_BYTES, at += 3 * CRC_LANE_BYTES) {
        uint32_t second = 0, third = 0;
        for (int i = 0; i < CRC_LANE_BYTES; i += 8) {
            crc = CRC_WORD(crc, load_word(at + i));
            second = CRC_WORD(second, load_word(at + CRC_LANE_BYTES + i));
            third = CRC_WORD(third, load_word(at + 2 * CRC_LANE_BYTES + i));
        }
        crc = crc_shifted(state, crc_shifted(state, crc) ^ second) ^ third;
    }
    for (; size >= 8; size -= 8, at += 8)
        crc = CRC_WORD(crc, load_word(at));
    for (; size > 0; size--)
        crc = CRC_BYTE(crc, *at++);
    return crc;
}
#endif

/* `crc` is that of the bytes before, 0 when there are none. */
static uint32_t crc_after(const State *state, uint32_t crc, const uint8_t *at, Py_ssize_t size)
{
#ifdef HARDWARE_CRC
    if (state->crc_in_hardware)
        return ~crc_hardware(state, ~crc, at, size);
#endif
    return ~crc_software(state, ~crc, at, size);
}

static void prepare_crc(State *state)
{
    static const uint8_t zeros[CRC_LANE_BYTES];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ CRC32C_POLYNOMIAL : crc >> 1;
        state->crc_table[0][i] = crc;
    }
    for (int i = 1; i < 8; i++)
        for (int j = 0; j < 256; j++) {
            uint32_t before = state->crc_table[i - 1][j];
            state->crc_table[i][j] = state->crc_table[0][before & 0xff] ^ before >> 8;
        }
    /* Linear: the shift of a byte is the sum of the shifts of its bits. */
    for (int i = 0; i < 4; i++)
        for (int bit = 0; bit < 8; bit++) {
            uint32_t moved = crc_software(state, 1u << (8 * i + bit), zeros, CRC_LANE_BYTES);
            for (int j = 1 << bit; j < 256; j++)
                if (j >> bit & 1)
                    state->crc_shift[i][j] ^= moved;
        }
#if defined(__x86_64__) && defined(HARDWARE_CRC)
    state->crc_in_hardware = __builtin_cpu_supports("sse4.2");
#elif defined(HARDWARE_CRC)
    state->crc_in_hardware = 1;
#endif
}

/* ---------------------------------------------------------------- big-endian numbers */

static inline int32_t load_int32(const uint8_t *at)
{
    return (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3]);
}

static inline void store_int32(uint8_t *at, int32_t number)
{
    uint32_t raw = (uint32_t)number;
    at[0] = (uint8_t)(raw >> 24);
    at[1] = (uint8_t)(raw >> 16);
    at[2] = (uint8_t)(raw >> 8);
    at[3] = (uint8_t)raw;
}

static inline int64_t load_int64(const uint8_t *at)
{
    return (int64_t)((uint64_t)(uint32_t)load_int32(at) << 32 | (uint32_t)load_int32(at + 4));
}

static inline void store_int64(uint8_t *at, int64_t number)
{
    store_int32(at, (int32_t)((uint64_t)number >> 32));
    store_int32(at + 4, (int32_t)(uint32_t)(uint64_t)number);
}

/* ---------------------------------------------------------------- one encoded record */

typedef struct {
    int64_t timestamp_delta;
    int32_t offset_delta;
    int32_t key_size; /* -1: null */
    int32_t value_size;
    int32_t header_count;
    const uint8_t *key;
    const uint8_t *value;
    const uint8_t *headers; /* behind the count */
} RecordView;

/* A length and that many bytes; *size is -1 for null. */
static inline const uint8_t *get_content(const uint8_t *at, const uint8_t *end, const uint8_t **content, int32_t *size)
{
    at = get_varint(at, end, size);
    if (at == NULL)
        return NULL;
    if (*size < 0) {
        *size = -1;
        *content = NULL;
        return at;
    }
    if (*size > end - at)
        return NULL;
    *content = at;
    return at + *size;
}

/* One header; the name must not be null. */
static inline const uint8_t *get_header(const uint8_t *at, const uint8_t *end, const uint8_t **name, int32_t *name_size,
                                        const uint8_t **value, int32_t *value_size)
{
    at = get_content(at, end, name, name_size);
    if (at == NULL || *name_size < 0)
        return NULL;
    return get_content(at, end, value, value_size);
}

/* Reads and checks one record with its headers; gives the position behind it, or NULL when it is malformed. */
static inline const uint8_t *get_record(const uint8_t *at, const uint8_t *section_end, RecordView *record)
{
    int32_t size;
    at = get_varint(at, section_end, &size);
    if (at == NULL || size < 1 || size > section_end - at)
        return NULL;
    const uint8_t *end = at + size;
    at++; /* attributes: unused, any value is accepted */
    if ((at = get_varlong(at, end, &record->timestamp_delta)) == NULL)
        return NULL;
    if ((at = get_varint(at, end, &record->offset_delta)) == NULL)
        return NULL;
    if ((at = get_content(at, end, &record->key, &record->key_size)) == NULL)
        return NULL;
    if ((at = get_content(at, end, &record->value, &record->value_size)) == NULL)
        return NULL;
    if ((at = get_varint(at, end, &record->header_count)) == NULL)
        return NULL;
    if (record->header_count < 0 || record->header_count > (end - at) / 2)
        return NULL;
    record->headers = at;
    for (int32_t i = 0; i < record->header_count; i++) {
        const uint8_t *name, *value;
        int32_t name_size, value_size;
        if ((at = get_header(at, end, &name, &name_size, &value, &value_size)) == NULL)
            return NULL;
    }
    return at == end ? end : NULL;
}

static PyObject *raise_malformed(State *state, Py_ssize_t index)
{
    return PyErr_Format(state->corrupt_record_error, "record %zd of the batch is malformed", index);
}

static int check_count(State *state, long long count, Py_ssize_t size)
{
    if (count < 0 || count > size / RECORD_BYTES_MIN) {
        PyErr_Format(state->corrupt_record_error, "%lld records cannot be in %zd bytes", count, size);
        return -1;
    }
    return 0;
}

static int check_end(State *state, const uint8_t *at, const uint8_t *end)
{
    if (at != end) {
        PyErr_Format(state->corrupt_record_error, "%zd bytes remain after the last record", (Py_ssize_t)(end - at));
        return -1;
    }
    return 0;
}

/* ---------------------------------------------------------------- arguments */

static int check_arguments(const char *name, Py_ssize_t count, Py_ssize_t least, Py_ssize_t most)
{
    if (count < least || count > most) {
        PyErr_Format(PyExc_TypeError, "%s() takes %zd to %zd arguments (%zd given)", name, least, most, count);
        return -1;
    }
    return 0;
}

static int get_int64(PyObject *object, long long *number)
{
    *number = PyLong_AsLongLong(object);
    return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

static int get_size(PyObject *object, Py_ssize_t *number)
{
    *number = PyLong_AsSsize_t(object);
    return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Bytes of an object: borrowed from bytes (the usual case), else through a buffer that the caller releases when
view->obj is set. */
static inline int get_bytes(PyObject *object, Py_buffer *view, const uint8_t **data, Py_ssize_t *size)
{
    if (PyBytes_CheckExact(object)) {
        view->obj = NULL;
        *data = (const uint8_t *)PyBytes_AS_STRING(object);
        *size = PyBytes_GET_SIZE(object);
        return 0;
    }
    if (PyObject_GetBuffer(object, view, PyBUF_FULL_RO) < 0)
        return -1;
    if (!PyBuffer_IsContiguous(view, 'C')) {
        PyBuffer_Release(view);
        PyErr_SetString(PyExc_BufferError, "the buffer is not contiguous");
        return -1;
    }
    *data = view->buf;
    *size = view->len;
    return 0;
}

static inline void release_bytes(Py_buffer *view)
{
    if (view->obj != NULL)
        PyBuffer_Release(view);
}

/* ---------------------------------------------------------------- batches one after the other */

enum { COMPRESSION_MASK = 0x07, LOG_APPEND_TIME = 0x08, TRANSACTIONAL = 0x10, CONTROL = 0x20 };

typedef struct {
    int64_t base_offset, base_timestamp, max_timestamp;
    int32_t size, leader_epoch, last_offset_delta, count;
    uint32_t crc;
    int16_t attributes;
} Batch;

/* The header of a whole v2 batch with sane offsets. 0 for anything else: that is for batch_header.read_header to judge,
which knows all formats and all errors. */
static int get_batch(const uint8_t *at, const uint8_t *end, Batch *batch)
{
    if (end - at < BATCH_HEADER_BYTES)
        return 0;
    int32_t length = load_int32(at + 8);
    if (length < BATCH_HEADER_BYTES - 12 || length > end - at - 12 || length > INT32_MAX - 12 || at[16] != 2)
        return 0;
    batch->base_offset = load_int64(at);
    batch->size = length + 12;
    batch->leader_epoch = load_int32(at + 12);
    batch->crc = (uint32_t)load_int32(at + 17);
    batch->attributes = (int16_t)((uint16_t)at[21] << 8 | at[22]);
    batch->last_offset_delta = load_int32(at + 23);
    batch->base_timestamp = load_int64(at + 27);
    batch->max_timestamp = load_int64(at + 35);
    batch->count = load_int32(at + 57);
    return batch->base_offset >= 0 && batch->base_offset <= INT64_MAX / 2 && batch->last_offset_delta >= 0;
}

typedef struct {
    const uint8_t *start, *end; /* the buffer */
    const uint8_t *first, *at;  /* the run: where it begins, and how far it goes */
    int64_t from_offset, end_offset;
    int check_crc, with_transactions;
    int64_t next_offset;
    int32_t leader_epoch;
    int append_time; /* LOG_APPEND_TIME; -1 before the first batch */
} Run;

/* The next batch if it can be decoded as it lies there: not compressed, no markers, all of it wanted, intact. */
static int next_in_run(const State *state, const Run *run, const uint8_t *at, Batch *batch)
{
    if (!get_batch(at, run->end, batch) || batch->attributes & (COMPRESSION_MASK | CONTROL) ||
        (batch->attributes & TRANSACTIONAL && !run->with_transactions) ||
        batch->base_offset + batch->last_offset_delta >= run->end_offset ||
        (run->append_time >= 0 && run->append_time != ((batch->attributes & LOG_APPEND_TIME) != 0)) ||
        batch->count < 0 || batch->count > (batch->size - BATCH_HEADER_BYTES) / RECORD_BYTES_MIN)
        return 0;
    return !run->check_crc || crc_after(state, 0, at + 21, batch->size - 21) == batch->crc;
}

/* The run goes on behind this batch. */
static void pass_batch(Run *run, const uint8_t *at, const Batch *batch)
{
    run->at = at + batch->size;
    run->next_offset = batch->base_offset + batch->last_offset_delta + 1;
    run->leader_epoch = batch->leader_epoch;
    run->append_time = (batch->attributes & LOG_APPEND_TIME) != 0;
}

static int open_run(PyObject *buffer, PyObject *position, Py_buffer *view, Run *run)
{
    Py_ssize_t at, size;
    const uint8_t *data;
    *run = (Run){0};
    if (get_size(position, &at) < 0 || get_bytes(buffer, view, &data, &size) < 0)
        return -1;
    if (at < 0 || at > size) {
        release_bytes(view);
        PyErr_Format(PyExc_ValueError, "position %zd is outside the buffer", at);
        return -1;
    }
    run->start = data;
    run->end = data + size;
    run->first = run->at = data + at;
    run->leader_epoch = -1;
    run->append_time = -1;
    return 0;
}

/* See pure_runs.skip_batches. */
static PyObject *skip_batches(PyObject *module, PyObject *const *args, Py_ssize_t argument_count)
{
    Py_buffer view;
    Run run;
    Batch batch;
    if (check_arguments("skip_batches", argument_count, 2, 2) < 0 || open_run(args[0], args[1], &view, &run) < 0)
        return NULL;
    int64_t next_offset = -1;
    while (get_batch(run.at, run.end, &batch)) {
        pass_batch(&run, run.at, &batch);
        if (run.next_offset > next_offset)
            next_offset = run.next_offset;
    }
    Py_ssize_t position = run.at - run.start;
    release_bytes(&view);
    return Py_BuildValue("(nLi)", position, (long long)next_offset, (int)run.leader_epoch);
}

/* ---------------------------------------------------------------- encoding from Python objects */

typedef struct {
    PyObject *bytes; /* a bytes object nobody else has seen yet */
    Py_ssize_t used;
} Output;

static int output_reserve(Output *output, Py_ssize_t more)
{
    Py_ssize_t capacity = PyBytes_GET_SIZE(output->bytes);
    if (more <= capacity - output->used)
        return 0;
    if (more > PY_SSIZE_T_MAX / 2 - output->used) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t wanted = output->used + more;
    return _PyBytes_Resize(&output->bytes, wanted + wanted / 2);
}

static inline uint8_t *output_at(Output *output)
{
    return (uint8_t *)PyBytes_AS_STRING(output->bytes) + output->used;
}

static int put_content(Output *output, PyObject *content)
{
    if (content == Py_None) {
        if (output_reserve(output, 1) < 0)
            return -1;
        *output_at(output) = 1;
        output->used++;
        return 0;
    }
    Py_buffer view;
    const uint8_t *data;
    Py_ssize_t size;
    if (get_bytes(content, &view, &data, &size) < 0)
        return -1;
    int failed = -1;
    if (size > INT32_MAX)
        PyErr_SetString(PyExc_OverflowError, "a key, value or header of a record is larger than 2 GiB");
    else if (output_reserve(output, size + VARINT_BYTES_MAX) == 0) {
        uint8_t *at = put_varint(output_at(output), size);
        if (size > 0)
            memcpy(at, data, (size_t)size);
        output->used = (char *)at - PyBytes_AS_STRING(output->bytes) + size;
        failed = 0;
    }
    release_bytes(&view);
    return failed;
}

static int put_headers(Output *output, PyObject *headers)
{
    /* A tuple of its own: nobody can change it under our hands. */
    PyObject *pairs = PySequence_Tuple(headers);
    if (pairs == NULL)
        return -1;
    Py_ssize_t count = PyTuple_GET_SIZE(pairs);
    if (count > INT32_MAX || output_reserve(output, VARINT_BYTES_MAX) < 0)
        goto failed;
    output->used += put_varint(output_at(output), count) - output_at(output);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *pair = PyTuple_GET_ITEM(pairs, i);
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2 || !PyUnicode_Check(PyTuple_GET_ITEM(pair, 0))) {
            PyErr_SetString(PyExc_TypeError, "a header must be a tuple (str, bytes or None)");
            goto failed;
        }
        Py_ssize_t size;
        const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(pair, 0), &size);
        if (name == NULL || size > INT32_MAX || output_reserve(output, size + VARINT_BYTES_MAX) < 0)
            goto failed;
        uint8_t *at = put_varint(output_at(output), size);
        memcpy(at, name, (size_t)size);
        output->used = (char *)at - PyBytes_AS_STRING(output->bytes) + size;
        if (put_content(output, PyTuple_GET_ITEM(pair, 1)) < 0)
            goto failed;
    }
    Py_DECREF(pairs);
    return 0;
failed:
    Py_DECREF(pairs);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_OverflowError, "the headers of a record are larger than 2 GiB");
    return -1;
}

static inline Py_ssize_t content_guess(PyObject *content)
{
    return PyBytes_CheckExact(content) ? PyBytes_GET_SIZE(content) + varint_size(PyBytes_GET_SIZE(content)) : 1;
}

/* The whole record. Its size stands in front: a place of the likely width is left, and the body moved when the guess
was wrong. */
static int put_record(Output *output, int64_t timestamp_delta, int32_t offset_delta, PyObject *key, PyObject *value,
                      PyObject *headers)
{
    int deltas = varint_size(timestamp_delta) + varint_size(offset_delta);
    int guess = varint_size(2 + deltas + content_guess(key) + content_guess(value));
    Py_ssize_t start = output->used;
    if (output_reserve(output, 2 * VARINT_BYTES_MAX + VARLONG_BYTES_MAX + 1) < 0)
        return -1;
    uint8_t *at = output_at(output) + guess;
    *at++ = 0;
    at = put_varint(at, timestamp_delta);
    at = put_varint(at, offset_delta);
    output->used = (char *)at - PyBytes_AS_STRING(output->bytes);
    if (put_content(output, key) < 0 || put_content(output, value) < 0)
        return -1;
    int empty = headers == Py_None;
    if (!empty && PyList_CheckExact(headers))
        empty = PyList_GET_SIZE(headers) == 0;
    if (empty) {
        if (output_reserve(output, 1) < 0)
            return -1;
        *output_at(output) = 0;
        output->used++;
    }
    else if (put_headers(output, headers) < 0)
        return -1;
    Py_ssize_t size = output->used - start - guess;
    if (size > INT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a record is larger than 2 GiB");
        return -1;
    }
    int width = varint_size(size);
    if (width != guess) {
        if (output_reserve(output, VARINT_BYTES_MAX) < 0)
            return -1;
        uint8_t *record = (uint8_t *)PyBytes_AS_STRING(output->bytes) + start;
        memmove(record + width, record + guess, (size_t)size);
        output->used += width - guess;
    }
    put_varint((uint8_t *)PyBytes_AS_STRING(output->bytes) + start, size);
    return 0;
}

static int put_records(Output *output, PyObject *records, PyObject *deltas, int64_t base_timestamp, int64_t *largest)
{
    Py_ssize_t count = PyTuple_GET_SIZE(records);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *record = PyTuple_GET_ITEM(records, i);
        if (!PyTuple_Check(record) || PyTuple_GET_SIZE(record) != 4) {
            PyErr_SetString(PyExc_TypeError, "a record must be a tuple (timestamp, key, value, headers)");
            return -1;
        }
        long long timestamp, offset_delta = i;
        if (get_int64(PyTuple_GET_ITEM(record, 0), &timestamp) < 0)
            return -1;
        if (deltas != NULL && get_int64(PyTuple_GET_ITEM(deltas, i), &offset_delta) < 0)
            return -1;
        if (offset_delta < INT32_MIN || offset_delta > INT32_MAX) {
            PyErr_SetString(PyExc_OverflowError, "an offset delta does not fit into 32 bits");
            return -1;
        }
        if (i == 0 || timestamp > *largest)
            *largest = timestamp;
        if (put_record(output, subtract_wrapping(timestamp, base_timestamp), (int32_t)offset_delta,
                       PyTuple_GET_ITEM(record, 1), PyTuple_GET_ITEM(record, 2), PyTuple_GET_ITEM(record, 3)) < 0)
            return -1;
    }
    return 0;
}

static PyObject *encode_records(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    long long base_timestamp;
    int64_t largest = -1;
    if (check_arguments("encode_records", count, 2, 3) < 0 || get_int64(args[1], &base_timestamp) < 0)
        return NULL;
    PyObject *result = NULL, *deltas = NULL, *records = PySequence_Tuple(args[0]);
    Output output = {NULL, 0};
    if (records == NULL)
        return NULL;
    if (count == 3 && args[2] != Py_None && (deltas = PySequence_Tuple(args[2])) == NULL)
        goto done;
    Py_ssize_t record_count = PyTuple_GET_SIZE(records);
    if (deltas != NULL && PyTuple_GET_SIZE(deltas) != record_count) {
        PyErr_SetString(PyExc_ValueError, "offset_deltas must have one entry per record");
        goto done;
    }
    /* A first guess from the first record; the rest are mostly alike. */
    Py_ssize_t each = 32;
    if (record_count > 0 && PyTuple_Check(PyTuple_GET_ITEM(records, 0)) &&
        PyTuple_GET_SIZE(PyTuple_GET_ITEM(records, 0)) == 4)
        each += content_guess(PyTuple_GET_ITEM(PyTuple_GET_ITEM(records, 0), 1)) +
                content_guess(PyTuple_GET_ITEM(PyTuple_GET_ITEM(records, 0), 2));
    Py_ssize_t guess = each < (1 << 20) && record_count < (1 << 20) ? each * record_count : each;
    output.bytes = PyBytes_FromStringAndSize(NULL, guess < (1 << 24) ? guess + 64 : 1 << 24);
    if (output.bytes == NULL || put_records(&output, records, deltas, base_timestamp, &largest) < 0)
        goto done;
    if (_PyBytes_Resize(&output.bytes, output.used) < 0)
        goto done;
    result = Py_BuildValue("(OL)", output.bytes, (long long)largest);
done:
    Py_XDECREF(output.bytes);
    Py_XDECREF(deltas);
    Py_DECREF(records);
    return result;
}

/* ---------------------------------------------------------------- decoding to objects */

static PyObject *make_headers(const RecordView *record, const uint8_t *end)
{
    PyObject *headers = PyList_New(0);
    if (headers == NULL)
        return NULL;
    const uint8_t *at = record->headers;
    for (int32_t i = 0; i < record->header_count; i++) {
        const uint8_t *name, *value;
        int32_t name_size, value_size;
        at = get_header(at, end, &name, &name_size, &value, &value_size);
        if (at == NULL) { /* only if the memory changed since it was checked */
            PyErr_SetString(PyExc_BufferError, "the buffer changed while it was read");
            goto failed;
        }
        PyObject *name_object = PyUnicode_DecodeUTF8((const char *)name, name_size, "replace");
        if (name_object == NULL)
            goto failed;
        PyObject *value_object =
            value_size < 0 ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize((const char *)value, value_size);
        PyObject *pair = value_object == NULL ? NULL : PyTuple_Pack(2, name_object, value_object);
        Py_DECREF(name_object);
        Py_XDECREF(value_object);
        if (pair == NULL || PyList_Append(headers, pair) < 0) {
            Py_XDECREF(pair);
            goto failed;
        }
        Py_DECREF(pair);
    }
    return headers;
failed:
    Py_DECREF(headers);
    return NULL;
}

static inline PyObject *make_bytes(const uint8_t *data, int32_t size)
{
    return size < 0 ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize((const char *)data, size);
}

typedef struct {
    PyObject *topic, *partition, *timestamp_type, *leader_epoch; /* borrowed, shared by all records of the batch */
    PyObject *timestamp;                                         /* owned: of the record before, often the same */
    int64_t timestamp_number;
} Shared;

static PyObject *make_record(State *state, Shared *shared, const RecordView *view, const uint8_t *end, int64_t offset,
                             int64_t timestamp)
{
    if (shared->timestamp == NULL || shared->timestamp_number != timestamp) {
        PyObject *number = PyLong_FromLongLong(timestamp);
        if (number == NULL)
            return NULL;
        Py_XSETREF(shared->timestamp, number);
        shared->timestamp_number = timestamp;
    }
    PyObject *key = NULL, *value = NULL, *headers = NULL, *record = NULL;
    PyObject *number = PyLong_FromLongLong(offset);
    if (number == NULL || (key = make_bytes(view->key, view->key_size)) == NULL ||
        (value = make_bytes(view->value, view->value_size)) == NULL || (headers = make_headers(view, end)) == NULL ||
        (record = state->consumer_record->tp_alloc(state->consumer_record, 0)) == NULL) {
        Py_XDECREF(number);
        Py_XDECREF(key);
        Py_XDECREF(value);
        Py_XDECREF(headers);
        return NULL;
    }
    PyObject *fields[RECORD_SLOTS] = {Py_NewRef(shared->topic),
                                      Py_NewRef(shared->partition),
                                      number,
                                      Py_NewRef(shared->timestamp),
                                      Py_NewRef(shared->timestamp_type),
                                      key,
                                      value,
                                      headers,
                                      Py_NewRef(shared->leader_epoch)};
    for (int i = 0; i < RECORD_SLOTS; i++)
        *(PyObject **)((char *)record + state->slots[i]) = fields[i];
    /* They hold numbers, bytes and text, so no cycle can go through them unless a user makes one by hand. Left to the
       garbage collector, a reader of small records spends a third of its time in looking at them again and again. */
    PyObject_GC_UnTrack(headers);
    PyObject_GC_UnTrack(record);
    return record;
}

static PyObject *decode_records(PyObject *module, PyObject *const *args, Py_ssize_t argument_count)
{
    State *state = PyModule_GetState(module);
    long long count, base_offset, base_timestamp, append_timestamp = 0, from_offset;
    if (check_arguments("decode_records", argument_count, 10, 10) < 0 || get_int64(args[1], &count) < 0 ||
        get_int64(args[2], &base_offset) < 0 || get_int64(args[3], &base_timestamp) < 0 ||
        (args[4] != Py_None && get_int64(args[4], &append_timestamp) < 0) || get_int64(args[6], &from_offset) < 0)
        return NULL;
    Py_buffer view;
    const uint8_t *at;
    Py_ssize_t size;
    if (get_bytes(args[0], &view, &at, &size) < 0)
        return NULL;
    const uint8_t *end = at + size;
    Shared shared = {args[7], args[8], args[5], args[9], NULL, 0};
    PyObject *records = NULL;
    if (check_count(state, count, size) < 0 || (records = PyList_New(0)) == NULL)
        goto failed;
    for (Py_ssize_t i = 0; i < count; i++) {
        RecordView record;
        at = get_record(at, end, &record);
        if (at == NULL) {
            raise_malformed(state, i);
            goto failed;
        }
        int64_t offset = add_wrapping(base_offset, record.offset_delta);
        if (offset < from_offset)
            continue;
        int64_t timestamp =
            args[4] != Py_None ? append_timestamp : add_wrapping(base_timestamp, record.timestamp_delta);
        PyObject *object = make_record(state, &shared, &record, at, offset, timestamp);
        if (object == NULL)
            goto failed;
        int failed = PyList_Append(records, object);
        Py_DECREF(object);
        if (failed < 0)
            goto failed;
    }
    if (check_end(state, at, end) < 0)
        goto failed;
    Py_XDECREF(shared.timestamp);
    release_bytes(&view);
    return records;
failed:
    Py_XDECREF(shared.timestamp);
    Py_XDECREF(records);
    release_bytes(&view);
    return NULL;
}

/* All records of one batch of a run; -1 with an error set, 1 when a record is malformed. */
static int decode_run_batch(State *state, Shared *shared, const uint8_t *at, const Batch *batch, int64_t from_offset,
                            PyObject *records)
{
    const uint8_t *end = at + batch->size;
    at += BATCH_HEADER_BYTES;
    for (int32_t i = 0; i < batch->count; i++) {
        RecordView record;
        at = get_record(at, end, &record);
        if (at == NULL)
            return 1;
        int64_t offset = add_wrapping(batch->base_offset, record.offset_delta);
        if (offset < from_offset)
            continue;
        int64_t timestamp = batch->attributes & LOG_APPEND_TIME
                                ? batch->max_timestamp
                                : add_wrapping(batch->base_timestamp, record.timestamp_delta);
        PyObject *object = make_record(state, shared, &record, at, offset, timestamp);
        if (object == NULL)
            return -1;
        int failed = PyList_Append(records, object);
        Py_DECREF(object);
        if (failed < 0)
            return -1;
    }
    return at != end;
}

/* See pure_runs.decode_batches. */
static PyObject *decode_batches(PyObject *module, PyObject *const *args, Py_ssize_t argument_count)
{
    State *state = PyModule_GetState(module);
    long long from_offset, records_max;
    Py_buffer view;
    Run run;
    Batch batch;
    if (check_arguments("decode_batches", argument_count, 9, 9) < 0 || get_int64(args[2], &from_offset) < 0 ||
        get_int64(args[3], &records_max) < 0)
        return NULL;
    if (!PyTuple_Check(args[8]) || PyTuple_GET_SIZE(args[8]) != 2) {
        PyErr_SetString(PyExc_TypeError, "timestamp_types must be a tuple of two");
        return NULL;
    }
    if (open_run(args[0], args[1], &view, &run) < 0)
        return NULL;
    run.end_offset = INT64_MAX;
    run.check_crc = args[4] == Py_True;
    run.with_transactions = args[5] == Py_True;
    /* How far it goes, and all checksums, without the GIL. */
    int64_t count = 0;
    Py_BEGIN_ALLOW_THREADS while (next_in_run(state, &run, run.at, &batch) && batch.count <= records_max - count)
    {
        count += batch.count;
        pass_batch(&run, run.at, &batch);
        run.append_time = -1; /* may change from batch to batch */
    }
    Py_END_ALLOW_THREADS const uint8_t *until = run.at;
    PyObject *result = NULL, *epoch = NULL, *records = PyList_New(0);
    Shared shared = {args[6], args[7], NULL, NULL, NULL, 0};
    run.at = run.first;
    run.next_offset = run.leader_epoch = -1;
    while (records != NULL && run.at < until) {
        /* Checked again: the memory may have changed. */
        if (!get_batch(run.at, until, &batch))
            break;
        if (epoch == NULL || batch.leader_epoch != run.leader_epoch) {
            Py_XSETREF(epoch, batch.leader_epoch < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(batch.leader_epoch));
            if (epoch == NULL)
                goto done;
        }
        shared.leader_epoch = epoch;
        shared.timestamp_type = PyTuple_GET_ITEM(args[8], (batch.attributes & LOG_APPEND_TIME) != 0);
        Py_ssize_t before = PyList_GET_SIZE(records);
        int malformed = decode_run_batch(state, &shared, run.at, &batch, from_offset, records);
        if (malformed < 0)
            goto done;
        if (malformed) {
            if (PyList_SetSlice(records, before, PyList_GET_SIZE(records), NULL) < 0)
                goto done;
            break;
        }
        pass_batch(&run, run.at, &batch);
    }
    if (records != NULL)
        result = Py_BuildValue("(OnLi)", records, (Py_ssize_t)(run.at - run.start), (long long)run.next_offset,
                               (int)run.leader_epoch);
done:
    Py_XDECREF(shared.timestamp);
    Py_XDECREF(epoch);
    Py_XDECREF(records);
    release_bytes(&view);
    return result;
}

/* Where every so manieth record begins, and the end: so that a long batch can be decoded piece by piece. Only the sizes
   of the records are looked at; what is in them is checked when they are decoded. */
static PyObject *split_records(PyObject *module, PyObject *const *args, Py_ssize_t argument_count)
{
    State *state = PyModule_GetState(module);
    Py_ssize_t count, every;
    if (check_arguments("split_records", argument_count, 3, 3) < 0 || get_size(args[1], &count) < 0 ||
        get_size(args[2], &every) < 0)
        return NULL;
    if (every < 1) {
        PyErr_SetString(PyExc_ValueError, "pieces must have a record at least");
        return NULL;
    }
    Py_buffer view;
    const uint8_t *start;
    Py_ssize_t size;
    if (get_bytes(args[0], &view, &start, &size) < 0)
        return NULL;
    const uint8_t *at = start, *end = start + size;
    PyObject *positions = NULL;
    if (check_count(state, count, size) < 0 || (positions = PyList_New(0)) == NULL)
        goto failed;
    for (Py_ssize_t i = 0; i <= count; i++) {
        if (i % every == 0 || i == count) {
            PyObject *position = PyLong_FromSsize_t(at - start);
            int failed = position == NULL ? -1 : PyList_Append(positions, position);
            Py_XDECREF(position);
            if (failed < 0)
                goto failed;
        }
        if (i == count)
            break;
        int32_t record_size;
        at = get_varint(at, end, &record_size);
        if (at == NULL || record_size < 1 || record_size > end - at) {
            raise_malformed(state, i);
            goto failed;
        }
        at += record_size;
    }
    if (check_end(state, at, end) < 0)
        goto failed;
    release_bytes(&view);
    return positions;
failed:
    Py_XDECREF(positions);
    release_bytes(&view);
    return NULL;
}

/* ---------------------------------------------------------------- decoding to columns */

enum {
    OFFSETS,
    TIMESTAMPS,
    KEY_OFFSETS,
    KEY_DATA,
    KEY_VALIDITY,
    VALUE_OFFSETS,
    VALUE_DATA,
    VALUE_VALIDITY,
    HEADER_OFFSETS,
    NAME_OFFSETS,
    NAME_DATA,
    CONTENT_OFFSETS,
    CONTENT_DATA,
    CONTENT_VALIDITY,
    ARRAYS
};
#define ARRAYS_WITHOUT_HEADERS HEADER_OFFSETS

typedef struct {
    int64_t rows, key_bytes, value_bytes, key_nulls, value_nulls;
    int64_t headers, name_bytes, content_bytes, content_nulls;
} Totals;

typedef struct {
    const uint8_t *start, *end;
    Py_ssize_t count;
    int64_t base_offset, base_timestamp, append_timestamp, from_offset;
    int appended; /* LOG_APPEND_TIME */
    int with_headers;
} Section;

/* First pass: checks every record and adds up what will be kept. Gives the index of a malformed record or -1. */
static Py_ssize_t measure(const Section *section, Totals *totals, const uint8_t **stopped)
{
    const uint8_t *at = section->start;
    for (Py_ssize_t i = 0; i < section->count; i++) {
        RecordView record;
        at = get_record(at, section->end, &record);
        if (at == NULL)
            return i;
        if (add_wrapping(section->base_offset, record.offset_delta) < section->from_offset)
            continue;
        totals->rows++;
        if (record.key_size < 0)
            totals->key_nulls++;
        else
            totals->key_bytes += record.key_size;
        if (record.value_size < 0)
            totals->value_nulls++;
        else
            totals->value_bytes += record.value_size;
        if (!section->with_headers || record.header_count == 0)
            continue;
        totals->headers += record.header_count;
        const uint8_t *header = record.headers;
        for (int32_t j = 0; j < record.header_count; j++) {
            const uint8_t *name, *value;
            int32_t name_size, value_size;
            if ((header = get_header(header, at, &name, &name_size, &value, &value_size)) == NULL)
                return i;
            totals->name_bytes += name_size;
            if (value_size < 0)
                totals->content_nulls++;
            else
                totals->content_bytes += value_size;
        }
    }
    *stopped = at;
    return -1;
}

/* Where one binary column is written; `limit` values guard against memory that changed since it was measured. */
typedef struct {
    uint8_t *offsets, *data, *validity;
    int64_t row, row_limit, used, limit;
} Sink;

static inline int sink_put(Sink *sink, const uint8_t *content, int32_t size)
{
    if (sink->row >= sink->row_limit || (size > 0 && size > sink->limit - sink->used))
        return -1;
    if (size > 0) {
        memcpy(sink->data + sink->used, content, (size_t)size);
        sink->used += size;
    }
    if (size >= 0 && sink->validity != NULL)
        sink->validity[sink->row >> 3] |= (uint8_t)(1u << (sink->row & 7));
    sink->row++;
    int32_t end = (int32_t)sink->used;
    memcpy(sink->offsets + 4 * sink->row, &end, 4);
    return 0;
}

/* Second pass: writes. Gives -1 when the memory is not what was measured. */
static int fill(const Section *section, uint8_t *const *arrays, Sink *key, Sink *value, Sink *name, Sink *content)
{
    const uint8_t *at = section->start;
    for (Py_ssize_t i = 0; i < section->count; i++) {
        RecordView record;
        at = get_record(at, section->end, &record);
        if (at == NULL)
            return -1;
        int64_t offset = add_wrapping(section->base_offset, record.offset_delta);
        if (offset < section->from_offset)
            continue;
        int64_t row = key->row;
        if (sink_put(key, record.key, record.key_size) < 0 || sink_put(value, record.value, record.value_size) < 0)
            return -1;
        int64_t timestamp = section->appended ? section->append_timestamp
                                              : add_wrapping(section->base_timestamp, record.timestamp_delta);
        memcpy(arrays[OFFSETS] + 8 * row, &offset, 8);
        memcpy(arrays[TIMESTAMPS] + 8 * row, &timestamp, 8);
        if (!section->with_headers)
            continue;
        const uint8_t *header = record.headers;
        for (int32_t j = 0; j < record.header_count; j++) {
            const uint8_t *name_bytes, *value_bytes;
            int32_t name_size, value_size;
            header = get_header(header, at, &name_bytes, &name_size, &value_bytes, &value_size);
            if (header == NULL || sink_put(name, name_bytes, name_size) < 0 ||
                sink_put(content, value_bytes, value_size) < 0)
                return -1;
        }
        int32_t end = (int32_t)name->row;
        memcpy(arrays[HEADER_OFFSETS] + 4 * (row + 1), &end, 4);
    }
    return 0;
}

static inline Py_ssize_t bitmap_bytes(int64_t rows)
{
    return (Py_ssize_t)((rows + 7) / 8);
}

/* Sizes of all arrays when they hold this many rows, bytes and headers. */
static void array_sizes(Py_ssize_t *sizes, int64_t rows, int64_t key_bytes, int64_t value_bytes, int64_t headers,
                        int64_t name_bytes, int64_t content_bytes)
{
    sizes[OFFSETS] = sizes[TIMESTAMPS] = (Py_ssize_t)(8 * rows);
    sizes[KEY_OFFSETS] = sizes[VALUE_OFFSETS] = sizes[HEADER_OFFSETS] = (Py_ssize_t)(4 * rows + 4);
    sizes[KEY_DATA] = (Py_ssize_t)key_bytes;
    sizes[VALUE_DATA] = (Py_ssize_t)value_bytes;
    sizes[KEY_VALIDITY] = sizes[VALUE_VALIDITY] = bitmap_bytes(rows);
    sizes[NAME_OFFSETS] = sizes[CONTENT_OFFSETS] = (Py_ssize_t)(4 * headers + 4);
    sizes[NAME_DATA] = (Py_ssize_t)name_bytes;
    sizes[CONTENT_DATA] = (Py_ssize_t)content_bytes;
    sizes[CONTENT_VALIDITY] = bitmap_bytes(headers);
}

static int too_large(int64_t before, int64_t more)
{
    if (before + more <= INT32_MAX)
        return 0;
    PyErr_SetString(PyExc_OverflowError, "a column would hold more than 2 GiB");
    return 1;
}

static void set_sink(Sink *sink, uint8_t *offsets, uint8_t *data, uint8_t *validity, int64_t row, int64_t more_rows,
                     int64_t used, int64_t more)
{
    *sink = (Sink){offsets, data, validity, row, row + more_rows, used, used + more};
}

static void batch_section(const uint8_t *at, const Batch *batch, int64_t from_offset, int with_headers,
                          Section *section)
{
    *section = (Section){at + BATCH_HEADER_BYTES,
                         at + batch->size,
                         batch->count,
                         batch->base_offset,
                         batch->base_timestamp,
                         batch->max_timestamp,
                         from_offset,
                         (batch->attributes & LOG_APPEND_TIME) != 0,
                         with_headers};
}

/* `fill` for all batches of a run. */
static int fill_run(const Run *run, int with_headers, uint8_t *const *arrays, Sink *key, Sink *value, Sink *name,
                    Sink *content)
{
    for (const uint8_t *at = run->first; at < run->at;) {
        Batch batch;
        Section section;
        if (!get_batch(at, run->at, &batch))
            return -1;
        batch_section(at, &batch, run->from_offset, with_headers, &section);
        if (fill(&section, arrays, key, value, name, content) < 0)
            return -1;
        at += batch.size;
    }
    return 0;
}

/* Grows the arrays, writes a section (or all of a run) into them with the GIL released, and undoes the growth when
anything fails. */
static int append_section(const Section *section, const Run *run, const Totals *totals, PyObject *arrays, int64_t rows)
{
    int array_count = section->with_headers ? ARRAYS : ARRAYS_WITHOUT_HEADERS;
    Py_ssize_t before[ARRAYS], after[ARRAYS], sizes[ARRAYS] = {0};
    for (int i = 0; i < array_count; i++)
        sizes[i] = PyByteArray_GET_SIZE(PyTuple_GET_ITEM(arrays, i));
    int64_t headers = section->with_headers ? sizes[NAME_OFFSETS] / 4 - 1 : 0;
    array_sizes(before, rows, sizes[KEY_DATA], sizes[VALUE_DATA], headers, sizes[NAME_DATA], sizes[CONTENT_DATA]);
    for (int i = 0; i < array_count; i++)
        if (sizes[i] != before[i]) {
            PyErr_Format(PyExc_ValueError, "the arrays do not hold %lld rows", (long long)rows);
            return -1;
        }
    if (too_large(sizes[KEY_DATA], totals->key_bytes) || too_large(sizes[VALUE_DATA], totals->value_bytes) ||
        too_large(sizes[NAME_DATA], totals->name_bytes) || too_large(sizes[CONTENT_DATA], totals->content_bytes) ||
        too_large(headers, totals->headers) || too_large(rows, totals->rows))
        return -1;
    array_sizes(after, rows + totals->rows, sizes[KEY_DATA] + totals->key_bytes,
                sizes[VALUE_DATA] + totals->value_bytes, headers + totals->headers,
                sizes[NAME_DATA] + totals->name_bytes, sizes[CONTENT_DATA] + totals->content_bytes);
    Py_buffer views[ARRAYS];
    uint8_t *memory[ARRAYS] = {0};
    int grown = 0, exported = 0, failed = -1;
    for (; grown < array_count; grown++)
        if (PyByteArray_Resize(PyTuple_GET_ITEM(arrays, grown), after[grown]) < 0)
            goto done;
    /* Exported buffers cannot be resized by another thread while the GIL is released. */
    for (; exported < array_count; exported++) {
        if (PyObject_GetBuffer(PyTuple_GET_ITEM(arrays, exported), &views[exported], PyBUF_WRITABLE) < 0)
            goto done;
        memory[exported] = views[exported].buf;
        if (views[exported].len != after[exported]) {
            exported++;
            PyErr_SetString(PyExc_BufferError, "the arrays changed while they were written");
            goto done;
        }
    }
    static const int bitmaps[] = {KEY_VALIDITY, VALUE_VALIDITY, CONTENT_VALIDITY};
    for (int i = 0; i < (section->with_headers ? 3 : 2); i++)
        memset(memory[bitmaps[i]] + before[bitmaps[i]], 0, (size_t)(after[bitmaps[i]] - before[bitmaps[i]]));
    Sink key, value, name = {0}, content = {0};
    set_sink(&key, memory[KEY_OFFSETS], memory[KEY_DATA], memory[KEY_VALIDITY], rows, totals->rows, sizes[KEY_DATA],
             totals->key_bytes);
    set_sink(&value, memory[VALUE_OFFSETS], memory[VALUE_DATA], memory[VALUE_VALIDITY], rows, totals->rows,
             sizes[VALUE_DATA], totals->value_bytes);
    if (section->with_headers) {
        set_sink(&name, memory[NAME_OFFSETS], memory[NAME_DATA], NULL, headers, totals->headers, sizes[NAME_DATA],
                 totals->name_bytes);
        set_sink(&content, memory[CONTENT_OFFSETS], memory[CONTENT_DATA], memory[CONTENT_VALIDITY], headers,
                 totals->headers, sizes[CONTENT_DATA], totals->content_bytes);
    }
    Py_BEGIN_ALLOW_THREADS failed =
        run == NULL ? fill(section, memory, &key, &value, &name, &content)
                    : fill_run(run, section->with_headers, memory, &key, &value, &name, &content);
    if (failed == 0 && (key.row != key.row_limit || key.used != key.limit || value.used != value.limit ||
                        name.row != name.row_limit || content.used != content.limit))
        failed = -1;
    Py_END_ALLOW_THREADS if (failed < 0) PyErr_SetString(PyExc_BufferError, "the buffer changed while it was read");
done:
    for (int i = 0; i < exported; i++)
        PyBuffer_Release(&views[i]);
    if (failed < 0) {
#if PY_VERSION_HEX >= 0x030C0000
        PyObject *error = PyErr_GetRaisedException();
#else
        PyObject *type, *error, *traceback;
        PyErr_Fetch(&type, &error, &traceback);
#endif
        for (int i = 0; i < grown; i++)
            if (PyByteArray_Resize(PyTuple_GET_ITEM(arrays, i), before[i]) < 0)
                PyErr_Clear();
#if PY_VERSION_HEX >= 0x030C0000
        PyErr_SetRaisedException(error);
#else
        PyErr_Restore(type, error, traceback);
#endif
    }
    return failed;
}

static int check_arrays(PyObject *arrays)
{
    if (!PyTuple_Check(arrays) ||
        (PyTuple_GET_SIZE(arrays) != ARRAYS && PyTuple_GET_SIZE(arrays) != ARRAYS_WITHOUT_HEADERS)) {
        PyErr_SetString(PyExc_ValueError, "8 arrays are needed, or 14 with headers");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arrays); i++)
        if (!PyByteArray_CheckExact(PyTuple_GET_ITEM(arrays, i))) {
            PyErr_SetString(PyExc_TypeError, "the arrays must be bytearrays");
            return -1;
        }
    return 0;
}

static PyObject *append_columns(PyObject *module, PyObject *const *args, Py_ssize_t argument_count)
{
    State *state = PyModule_GetState(module);
    long long count, base_offset, base_timestamp, append_timestamp = 0, from_offset, rows;
    if (check_arguments("append_columns", argument_count, 8, 8) < 0 || get_int64(args[1], &count) < 0 ||
        get_int64(args[2], &base_offset) < 0 || get_int64(args[3], &base_timestamp) < 0 ||
        (args[4] != Py_None && get_int64(args[4], &append_timestamp) < 0) || get_int64(args[5], &from_offset) < 0 ||
        get_int64(args[6], &rows) < 0 || check_arrays(args[7]) < 0)
        return NULL;
    if (rows < 0 || rows > INT32_MAX)
        return PyErr_Format(PyExc_ValueError, "the arrays do not hold %lld rows", rows);
    Py_buffer view;
    const uint8_t *at, *stopped = NULL;
    Py_ssize_t size;
    if (get_bytes(args[0], &view, &at, &size) < 0)
        return NULL;
    PyObject *result = NULL;
    Totals totals = {0};
    Section section = {at,          at + size,          0,
                       base_offset, base_timestamp,     append_timestamp,
                       from_offset, args[4] != Py_None, PyTuple_GET_SIZE(args[7]) == ARRAYS};
    if (check_count(state, count, size) < 0)
        goto done;
    section.count = (Py_ssize_t)count;
    Py_ssize_t malformed;
    Py_BEGIN_ALLOW_THREADS malformed = measure(&section, &totals, &stopped);
    Py_END_ALLOW_THREADS if (malformed >= 0)
    {
        raise_malformed(state, malformed);
        goto done;
    }
    if (check_end(state, stopped, section.end) < 0 || append_section(&section, NULL, &totals, args[7], rows) < 0)
        goto done;
    result = Py_BuildValue("(LLLLL)", (long long)totals.rows, (long long)totals.key_nulls,
                           (long long)totals.value_nulls, (long long)totals.headers, (long long)totals.content_nulls);
done:
    release_bytes(&view);
    return result;
}

static inline int64_t total_bytes(const Totals *totals)
{
    return totals->key_bytes + totals->value_bytes + totals->name_bytes + totals->content_bytes;
}

/* Goes on with a run while batches are plain, whole, intact and within the limits. */
static void measure_run(const State *state, Run *run, int with_headers, int64_t rows_max, int64_t bytes_max,
                        Totals *totals)
{
    Batch batch;
    while (next_in_run(state, run, run->at, &batch)) {
        Section section;
        Totals more = *totals;
        const uint8_t *stopped = NULL;
        batch_section(run->at, &batch, run->from_offset, with_headers, &section);
        if (measure(&section, &more, &stopped) >= 0 || stopped != section.end || more.rows > rows_max ||
            total_bytes(&more) > bytes_max)
            return;
        *totals = more;
        pass_batch(run, run->at, &batch);
    }
}

/* See pure_runs.append_batches. */
static PyObject *append_batches(PyObject *module, PyObject *const *args, Py_ssize_t argument_count)
{
    State *state = PyModule_GetState(module);
    long long from_offset, end_offset, rows_max, bytes_max, rows;
    Py_buffer view;
    Run run;
    if (check_arguments("append_batches", argument_count, 10, 10) < 0 || get_int64(args[2], &from_offset) < 0 ||
        get_int64(args[3], &end_offset) < 0 || get_int64(args[4], &rows_max) < 0 ||
        get_int64(args[5], &bytes_max) < 0 || get_int64(args[8], &rows) < 0 || check_arrays(args[9]) < 0)
        return NULL;
    if (rows < 0 || rows > INT32_MAX)
        return PyErr_Format(PyExc_ValueError, "the arrays do not hold %lld rows", rows);
    if (open_run(args[0], args[1], &view, &run) < 0)
        return NULL;
    run.from_offset = from_offset;
    run.end_offset = end_offset;
    run.check_crc = args[6] == Py_True;
    run.with_transactions = args[7] == Py_True;
    run.next_offset = -1;
    Totals totals = {0};
    Section section = {.with_headers = PyTuple_GET_SIZE(args[9]) == ARRAYS};
    Py_BEGIN_ALLOW_THREADS measure_run(state, &run, section.with_headers, rows_max, bytes_max, &totals);
    Py_END_ALLOW_THREADS PyObject *result = NULL;
    if (append_section(&section, &run, &totals, args[9], rows) == 0)
        result =
            Py_BuildValue("(nLiiLLLLL)", (Py_ssize_t)(run.at - run.start), (long long)run.next_offset,
                          (int)run.leader_epoch, run.append_time, (long long)totals.rows, (long long)totals.key_nulls,
                          (long long)totals.value_nulls, (long long)totals.headers, (long long)totals.content_nulls);
    release_bytes(&view);
    return result;
}

/* ---------------------------------------------------------------- encoding from columns */

typedef struct {
    int present, exported; /* exported: how many of the views below are to be released */
    Py_buffer views[3];
    const uint8_t *offsets, *data, *validity;
    Py_ssize_t offsets_size, data_size, validity_size, first_row;
    int width;
} Column;

static int open_buffer(PyObject *object, Py_buffer *view)
{
    return PyObject_GetBuffer(object, view, PyBUF_SIMPLE);
}

static void close_column(Column *column)
{
    while (column->exported > 0)
        PyBuffer_Release(&column->views[--column->exported]);
}

/* An InputColumn: (offsets, data, validity, offset_bytes, first_row). The caller closes it, also after a failure. */
static int open_column(PyObject *object, Column *column)
{
    *column = (Column){0};
    if (object == Py_None)
        return 0;
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 5) {
        PyErr_SetString(PyExc_TypeError, "a column must be an InputColumn");
        return -1;
    }
    Py_ssize_t width;
    if (get_size(PyTuple_GET_ITEM(object, 3), &width) < 0 ||
        get_size(PyTuple_GET_ITEM(object, 4), &column->first_row) < 0)
        return -1;
    if (width != 4 && width != 8) {
        PyErr_SetString(PyExc_ValueError, "offsets must be of 4 or 8 bytes");
        return -1;
    }
    int views = PyTuple_GET_ITEM(object, 2) == Py_None ? 2 : 3;
    for (; column->exported < views; column->exported++)
        if (open_buffer(PyTuple_GET_ITEM(object, column->exported), &column->views[column->exported]) < 0)
            return -1;
    column->present = 1;
    column->width = (int)width;
    column->offsets = column->views[0].buf;
    column->offsets_size = column->views[0].len;
    column->data = column->views[1].buf;
    column->data_size = column->views[1].len;
    if (views == 3) {
        column->validity = column->views[2].buf;
        column->validity_size = column->views[2].len;
    }
    return 0;
}

/* Where a row stands in the buffers of a column, -1 when it is not within them. */
static inline int64_t row_position(Py_ssize_t first_row, int64_t row, Py_ssize_t offsets_size, int width,
                                   const uint8_t *validity, Py_ssize_t validity_size)
{
    int64_t at;
    if (row < 0 || row > INT64_MAX / 2 || first_row < 0 || first_row > INT64_MAX / 4)
        return -1;
    at = first_row + row;
    if (at > offsets_size / width - 2 || (validity != NULL && at / 8 >= validity_size))
        return -1;
    return at;
}

static inline int bit_is_set(const uint8_t *validity, int64_t at)
{
    return validity[at >> 3] >> (at & 7) & 1;
}

static inline int64_t offset_at(const uint8_t *offsets, int width, int64_t at)
{
    if (width == 4) {
        int32_t number;
        memcpy(&number, offsets + 4 * at, 4);
        return number;
    }
    int64_t number;
    memcpy(&number, offsets + 8 * at, 8);
    return number;
}

/* The bytes of a row; *size is -1 for null. Gives -1 when the row or its offsets are outside the buffers. */
static inline int get_cell(const Column *column, int64_t row, const uint8_t **content, int32_t *size)
{
    *content = NULL;
    *size = -1;
    if (!column->present)
        return 0;
    int64_t at = row_position(column->first_row, row, column->offsets_size, column->width, column->validity,
                              column->validity_size);
    if (at < 0)
        return -1;
    if (column->validity != NULL && !bit_is_set(column->validity, at))
        return 0;
    int64_t start = offset_at(column->offsets, column->width, at);
    int64_t end = offset_at(column->offsets, column->width, at + 1);
    if (start < 0 || end < start || end > column->data_size || end - start > INT32_MAX)
        return -1;
    *content = column->data + start;
    *size = (int32_t)(end - start);
    return 0;
}

typedef struct {
    Column key, value, names, contents;
    int with_headers, lists_exported;
    Py_buffer lists_views[2]; /* offsets, validity */
    Py_ssize_t lists_first_row;
    Py_buffer timestamps_view, rows_view;
    int has_timestamps, has_rows;
    int64_t timestamp; /* when there is no timestamp column */
    Py_ssize_t row_count, first, rows_max, bytes_max;
} Table;

static void close_table(Table *table)
{
    close_column(&table->key);
    close_column(&table->value);
    close_column(&table->names);
    close_column(&table->contents);
    while (table->lists_exported > 0)
        PyBuffer_Release(&table->lists_views[--table->lists_exported]);
    if (table->has_timestamps)
        PyBuffer_Release(&table->timestamps_view);
    if (table->has_rows)
        PyBuffer_Release(&table->rows_view);
}

/* An InputHeaders: (offsets, names, values, validity, first_row). */
static int open_lists(PyObject *object, Table *table)
{
    if (object == Py_None)
        return 0;
    if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 5) {
        PyErr_SetString(PyExc_TypeError, "headers must be an InputHeaders");
        return -1;
    }
    table->with_headers = 1;
    if (open_column(PyTuple_GET_ITEM(object, 1), &table->names) < 0 ||
        open_column(PyTuple_GET_ITEM(object, 2), &table->contents) < 0 ||
        get_size(PyTuple_GET_ITEM(object, 4), &table->lists_first_row) < 0 ||
        open_buffer(PyTuple_GET_ITEM(object, 0), &table->lists_views[0]) < 0)
        return -1;
    table->lists_exported = 1;
    if (PyTuple_GET_ITEM(object, 3) == Py_None)
        return 0;
    if (open_buffer(PyTuple_GET_ITEM(object, 3), &table->lists_views[1]) < 0)
        return -1;
    table->lists_exported = 2;
    return 0;
}

static int open_table(PyObject *const *args, Table *table)
{
    long long timestamp = 0;
    if (open_column(args[0], &table->key) < 0 || open_column(args[1], &table->value) < 0 ||
        open_lists(args[2], table) < 0 || get_size(args[4], &table->row_count) < 0 ||
        get_size(args[6], &table->first) < 0 || get_size(args[7], &table->rows_max) < 0 ||
        get_size(args[8], &table->bytes_max) < 0)
        return -1;
    if (PyLong_Check(args[3])) {
        if (get_int64(args[3], &timestamp) < 0)
            return -1;
        table->timestamp = timestamp;
    }
    else {
        if (open_buffer(args[3], &table->timestamps_view) < 0)
            return -1;
        table->has_timestamps = 1;
    }
    if (args[5] != Py_None) {
        if (open_buffer(args[5], &table->rows_view) < 0)
            return -1;
        table->has_rows = 1;
    }
    if (table->first < 0 || table->row_count < 0 || table->rows_max < 1) {
        PyErr_SetString(PyExc_ValueError, "row numbers and limits must not be negative");
        return -1;
    }
    return 0;
}

enum { ROW_OK = 0, ROW_OUT_OF_BOUNDS = -1, ROW_WITHOUT_NAME = -2, ROW_TOO_LARGE = -3 };

typedef struct {
    int64_t timestamp, list_start, list_end;
    const uint8_t *key, *value;
    int32_t key_size, value_size;
    int64_t headers_size;
} Row;

static inline int64_t content_size(int32_t size)
{
    return size < 0 ? 1 : (int64_t)varint_size(size) + size;
}

static int get_row(const Table *table, int64_t number, Row *row)
{
    if (number < 0 || number >= table->row_count)
        return ROW_OUT_OF_BOUNDS;
    row->timestamp = table->timestamp;
    if (table->has_timestamps) {
        if (number >= table->timestamps_view.len / 8)
            return ROW_OUT_OF_BOUNDS;
        memcpy(&row->timestamp, (const uint8_t *)table->timestamps_view.buf + 8 * number, 8);
    }
    if (get_cell(&table->key, number, &row->key, &row->key_size) < 0 ||
        get_cell(&table->value, number, &row->value, &row->value_size) < 0)
        return ROW_OUT_OF_BOUNDS;
    row->list_start = row->list_end = 0;
    row->headers_size = 1;
    if (!table->with_headers)
        return ROW_OK;
    const uint8_t *offsets = table->lists_views[0].buf;
    const uint8_t *validity = table->lists_exported == 2 ? table->lists_views[1].buf : NULL;
    int64_t at = row_position(table->lists_first_row, number, table->lists_views[0].len, 4, validity,
                              validity == NULL ? 0 : table->lists_views[1].len);
    if (at < 0)
        return ROW_OUT_OF_BOUNDS;
    if (validity != NULL && !bit_is_set(validity, at))
        return ROW_OK;
    row->list_start = offset_at(offsets, 4, at);
    row->list_end = offset_at(offsets, 4, at + 1);
    if (row->list_start < 0 || row->list_end < row->list_start)
        return ROW_OUT_OF_BOUNDS;
    row->headers_size = varint_size(row->list_end - row->list_start);
    for (int64_t i = row->list_start; i < row->list_end; i++) {
        const uint8_t *name, *content;
        int32_t name_size, size;
        if (get_cell(&table->names, i, &name, &name_size) < 0)
            return ROW_OUT_OF_BOUNDS;
        if (name_size < 0)
            return ROW_WITHOUT_NAME;
        if (get_cell(&table->contents, i, &content, &size) < 0)
            return ROW_OUT_OF_BOUNDS;
        row->headers_size += content_size(name_size) + content_size(size);
    }
    return ROW_OK;
}

static inline int64_t selected_row(const Table *table, int64_t index)
{
    if (!table->has_rows)
        return index;
    int32_t row;
    memcpy(&row, (const uint8_t *)table->rows_view.buf + 4 * index, 4);
    return row;
}

static inline uint8_t *put_cell(uint8_t *at, const uint8_t *content, int32_t size)
{
    at = put_varint(at, size < 0 ? -1 : size);
    if (size > 0) {
        memcpy(at, content, (size_t)size);
        at += size;
    }
    return at;
}

typedef struct {
    int64_t taken, size, base_timestamp, max_timestamp, failed_row;
} Taken;

/* One walk over the rows: measures when `out` is NULL, else writes into `limit` bytes what was measured before. */
static int walk_rows(const Table *table, Taken *taken, uint8_t *out, int64_t limit)
{
    int64_t available = table->has_rows ? table->rows_view.len / 4 : table->row_count;
    int64_t most = out == NULL ? table->rows_max : taken->taken;
    int64_t base_timestamp = 0, size = 0, count = 0;
    for (; count < most && table->first + count < available; count++) {
        int64_t number = selected_row(table, table->first + count);
        Row row;
        int status = get_row(table, number, &row);
        if (status != ROW_OK) {
            taken->failed_row = number;
            return status;
        }
        if (count == 0)
            base_timestamp = taken->base_timestamp = taken->max_timestamp = row.timestamp;
        int64_t delta = subtract_wrapping(row.timestamp, base_timestamp);
        int64_t body = 1 + varint_size(delta) + varint_size(count) + content_size(row.key_size) +
                       content_size(row.value_size) + row.headers_size;
        int64_t record = varint_size(body) + body;
        if (body > INT32_MAX || count > INT32_MAX) {
            taken->failed_row = number;
            return ROW_TOO_LARGE;
        }
        if (out == NULL) {
            if (count > 0 && size + record > table->bytes_max)
                break;
        }
        else {
            if (size + record > limit)
                return ROW_TOO_LARGE;
            uint8_t *at = put_varint(out + size, body);
            *at++ = 0;
            at = put_varint(at, delta);
            at = put_varint(at, count);
            at = put_cell(at, row.key, row.key_size);
            at = put_cell(at, row.value, row.value_size);
            int64_t rest = size + record - (at - out); /* what the headers were measured to take */
            at = put_varint(at, row.list_end - row.list_start);
            rest -= varint_size(row.list_end - row.list_start);
            for (int64_t i = row.list_start; i < row.list_end; i++) {
                const uint8_t *name, *content;
                int32_t name_size, content_bytes;
                if (get_cell(&table->names, i, &name, &name_size) < 0 ||
                    get_cell(&table->contents, i, &content, &content_bytes) < 0)
                    return ROW_OUT_OF_BOUNDS;
                rest -= content_size(name_size) + content_size(content_bytes);
                if (rest < 0)
                    return ROW_TOO_LARGE;
                at = put_cell(at, name, name_size);
                at = put_cell(at, content, content_bytes);
            }
            if (rest != 0)
                return ROW_TOO_LARGE;
        }
        size += record;
        if (row.timestamp > taken->max_timestamp)
            taken->max_timestamp = row.timestamp;
    }
    taken->taken = count;
    taken->size = size;
    return ROW_OK;
}

static PyObject *raise_row(int status, int64_t row)
{
    if (status == ROW_WITHOUT_NAME)
        return PyErr_Format(PyExc_ValueError, "column row %lld has a header without a name", (long long)row);
    if (status == ROW_TOO_LARGE)
        return PyErr_Format(PyExc_OverflowError, "column row %lld makes a record larger than 2 GiB", (long long)row);
    return PyErr_Format(PyExc_ValueError, "column row %lld is out of bounds", (long long)row);
}

static PyObject *encode_columns(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t before = 0;
    if (check_arguments("encode_columns", count, 9, 10) < 0 || (count == 10 && get_size(args[9], &before) < 0))
        return NULL;
    if (before < 0 || before > BATCH_HEADER_BYTES) {
        PyErr_SetString(PyExc_ValueError, "the room in front must not be larger than a batch header");
        return NULL;
    }
    Table table = {0};
    Taken taken = {0};
    PyObject *section = NULL, *result = NULL;
    int status;
    if (open_table(args, &table) < 0)
        goto done;
    Py_BEGIN_ALLOW_THREADS status = walk_rows(&table, &taken, NULL, 0);
    Py_END_ALLOW_THREADS if (status != ROW_OK)
    {
        raise_row(status, taken.failed_row);
        goto done;
    }
    section = PyByteArray_FromStringAndSize(NULL, before + (Py_ssize_t)taken.size);
    if (section == NULL)
        goto done;
    int64_t measured_rows = taken.taken, measured = taken.size;
    uint8_t *out = (uint8_t *)PyByteArray_AS_STRING(section);
    memset(out, 0, (size_t)before);
    out += before;
    if (measured_rows > 0) {
        Py_BEGIN_ALLOW_THREADS status = walk_rows(&table, &taken, out, measured);
        Py_END_ALLOW_THREADS
    }
    if (status != ROW_OK || taken.taken != measured_rows || taken.size != measured) {
        PyErr_SetString(PyExc_BufferError, "the columns changed while they were read");
        goto done;
    }
    result = Py_BuildValue("(OLLL)", section, (long long)taken.taken, (long long)taken.base_timestamp,
                           (long long)taken.max_timestamp);
done:
    Py_XDECREF(section);
    close_table(&table);
    return result;
}

/* ---------------------------------------------------------------- CRC-32C of a buffer */

/* As the function of the crc32c package, whose import takes longer than that of a whole client. */
static PyObject *crc32c(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    const State *state = PyModule_GetState(module);
    Py_buffer view;
    uint32_t crc = 0;
    if (check_arguments("crc32c", count, 1, 2) < 0)
        return NULL;
    if (count == 2) {
        unsigned long before = PyLong_AsUnsignedLongMask(args[1]);
        if (before == (unsigned long)-1 && PyErr_Occurred())
            return NULL;
        crc = (uint32_t)before;
    }
    if (PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0)
        return NULL;
    if (view.len < CRC_BYTES_ALONE) {
        crc = crc_after(state, crc, view.buf, view.len);
    } else {
        Py_BEGIN_ALLOW_THREADS crc = crc_after(state, crc, view.buf, view.len);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&view);
    return PyLong_FromUnsignedLong(crc);
}

/* ---------------------------------------------------------------- murmur2 and partitions */

static int32_t hash_murmur2(const uint8_t *data, Py_ssize_t size)
{
    const uint32_t m = 0x5bd1e995u;
    uint32_t hash = 0x9747b28cu ^ (uint32_t)size;
    Py_ssize_t whole = size & ~(Py_ssize_t)3;
    for (Py_ssize_t i = 0; i < whole; i += 4) {
        uint32_t word =
            (uint32_t)data[i] | (uint32_t)data[i + 1] << 8 | (uint32_t)data[i + 2] << 16 | (uint32_t)data[i + 3] << 24;
        word *= m;
        word ^= word >> 24;
        word *= m;
        hash *= m;
        hash ^= word;
    }
    switch (size - whole) {
    case 3:
        hash ^= (uint32_t)data[whole + 2] << 16;
        /* fall through */
    case 2:
        hash ^= (uint32_t)data[whole + 1] << 8;
        /* fall through */
    case 1:
        hash ^= (uint32_t)data[whole];
        hash *= m;
        break;
    default:
        break;
    }
    hash ^= hash >> 13;
    hash *= m;
    hash ^= hash >> 15;
    return (int32_t)hash;
}

static PyObject *murmur2(PyObject *module, PyObject *key)
{
    Py_buffer view;
    const uint8_t *data;
    Py_ssize_t size;
    if (get_bytes(key, &view, &data, &size) < 0)
        return NULL;
    int32_t hash = hash_murmur2(data, size);
    release_bytes(&view);
    return PyLong_FromLong(hash);
}

static PyObject *murmur2_column(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t row_count, partition_count;
    if (check_arguments("murmur2_column", count, 3, 3) < 0 || get_size(args[1], &row_count) < 0 ||
        get_size(args[2], &partition_count) < 0)
        return NULL;
    if (partition_count < 1 || partition_count > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "partition_count must be at least 1");
        return NULL;
    }
    Column column = {0};
    PyObject *result = NULL;
    if (open_column(args[0], &column) < 0)
        goto done;
    if (!column.present) {
        PyErr_SetString(PyExc_TypeError, "a column must be an InputColumn");
        goto done;
    }
    if (row_count < 0) {
        PyErr_SetString(PyExc_ValueError, "row numbers and limits must not be negative");
        goto done;
    }
    /* A row needs an offset: nothing is allocated for rows that cannot be there, the loop ends at the first of them. */
    Py_ssize_t held = column.offsets_size / column.width;
    result = PyByteArray_FromStringAndSize(NULL, 4 * (row_count < held ? row_count : held));
    if (result == NULL)
        goto done;
    uint8_t *out = (uint8_t *)PyByteArray_AS_STRING(result);
    Py_ssize_t row;
    Py_BEGIN_ALLOW_THREADS for (row = 0; row < row_count; row++)
    {
        const uint8_t *content;
        int32_t size, partition = -1;
        if (get_cell(&column, row, &content, &size) < 0)
            break;
        if (size >= 0)
            partition = (int32_t)((hash_murmur2(content, size) & INT32_MAX) % (int32_t)partition_count);
        memcpy(out + 4 * row, &partition, 4);
    }
    Py_END_ALLOW_THREADS if (row < row_count)
    {
        Py_CLEAR(result);
        raise_row(ROW_OUT_OF_BOUNDS, row);
    }
done:
    close_column(&column);
    return result;
}

/* Counts, then places; `starts` has one entry more than there are partitions. Gives the first row with a wrong
partition, or -1. */
static Py_ssize_t sort_rows(const uint8_t *partitions, Py_ssize_t row_count, int32_t partition_count, int64_t *starts,
                            int64_t *next, uint8_t *out)
{
    for (Py_ssize_t row = 0; row < row_count; row++) {
        int32_t partition;
        memcpy(&partition, partitions + 4 * row, 4);
        if (partition < 0 || partition >= partition_count)
            return row;
        starts[partition + 1]++;
    }
    for (int32_t i = 0; i < partition_count; i++) {
        starts[i + 1] += starts[i];
        next[i] = starts[i];
    }
    for (Py_ssize_t row = 0; row < row_count; row++) {
        int32_t partition, number = (int32_t)row;
        memcpy(&partition, partitions + 4 * row, 4);
        /* Checked again: the memory may belong to someone who writes. */
        if (partition < 0 || partition >= partition_count || next[partition] >= starts[partition + 1])
            return row;
        memcpy(out + 4 * next[partition]++, &number, 4);
    }
    return -1;
}

static PyObject *group_rows(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t partition_count;
    if (check_arguments("group_rows", count, 2, 2) < 0 || get_size(args[1], &partition_count) < 0)
        return NULL;
    if (partition_count < 1 || partition_count > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "partition_count must be at least 1");
        return NULL;
    }
    Py_buffer view;
    if (open_buffer(args[0], &view) < 0)
        return NULL;
    PyObject *rows = NULL, *list = NULL, *result = NULL;
    Py_ssize_t row_count = view.len / 4, wrong = -1;
    int64_t *starts = PyMem_Calloc((size_t)partition_count * 2 + 1, sizeof(int64_t));
    if (starts == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if (row_count > INT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "too many rows");
        goto done;
    }
    rows = PyByteArray_FromStringAndSize(NULL, 4 * row_count);
    if (rows == NULL)
        goto done;
    uint8_t *out = (uint8_t *)PyByteArray_AS_STRING(rows);
    Py_BEGIN_ALLOW_THREADS wrong =
        sort_rows(view.buf, row_count, (int32_t)partition_count, starts, starts + partition_count + 1, out);
    Py_END_ALLOW_THREADS if (wrong >= 0)
    {
        int32_t partition;
        memcpy(&partition, (const uint8_t *)view.buf + 4 * wrong, 4);
        PyErr_Format(PyExc_ValueError, "row %zd has partition %d", wrong, (int)partition);
        goto done;
    }
    list = PyList_New(partition_count + 1);
    if (list == NULL)
        goto done;
    for (Py_ssize_t i = 0; i <= partition_count; i++) {
        PyObject *start = PyLong_FromLongLong(starts[i]);
        if (start == NULL)
            goto done;
        PyList_SET_ITEM(list, i, start);
    }
    result = PyTuple_Pack(2, rows, list);
done:
    Py_XDECREF(rows);
    Py_XDECREF(list);
    PyMem_Free(starts);
    PyBuffer_Release(&view);
    return result;
}

/* ---------------------------------------------------------------- a batch under construction */

/* A record of bytes (or None) and no headers is measured and written in place; -1 does not fit, -2 is for the general
way. */
static Py_ssize_t append_plain(uint8_t *batch, Py_ssize_t limit, Py_ssize_t position, int64_t delta, int32_t index,
                               PyObject *key, PyObject *value)
{
    if ((key != Py_None && !PyBytes_CheckExact(key)) || (value != Py_None && !PyBytes_CheckExact(value)))
        return -2;
    Py_ssize_t key_size = key == Py_None ? -1 : PyBytes_GET_SIZE(key);
    Py_ssize_t value_size = value == Py_None ? -1 : PyBytes_GET_SIZE(value);
    if (key_size > limit || value_size > limit)
        return -1;
    int64_t body = 2 + varint_size(delta) + varint_size(index) + content_size((int32_t)key_size) +
                   content_size((int32_t)value_size);
    if (varint_size(body) + body > limit - position)
        return -1;
    uint8_t *at = put_varint(batch + position, body);
    *at++ = 0;
    at = put_varint(at, delta);
    at = put_varint(at, index);
    at = put_cell(at, key == Py_None ? NULL : (const uint8_t *)PyBytes_AS_STRING(key), (int32_t)key_size);
    at = put_cell(at, value == Py_None ? NULL : (const uint8_t *)PyBytes_AS_STRING(value), (int32_t)value_size);
    *at++ = 0;
    return at - batch;
}

/* With headers or other buffers: made aside, then copied. Python code may run in between, so the batch is looked at
again: -1 does not fit, -2 is an error, -3 says that it is not the batch it was. */
static Py_ssize_t append_general(PyObject *buffer, Py_ssize_t limit, Py_ssize_t position, int64_t delta, int32_t index,
                                 PyObject *key, PyObject *value, PyObject *headers)
{
    Output output = {PyBytes_FromStringAndSize(NULL, 256), 0};
    if (output.bytes == NULL || put_record(&output, delta, index, key, value, headers) < 0) {
        Py_XDECREF(output.bytes);
        return -2;
    }
    Py_ssize_t end = -1;
    const uint8_t *batch = (const uint8_t *)PyByteArray_AS_STRING(buffer);
    if (PyByteArray_GET_SIZE(buffer) < BATCH_HEADER_BYTES || load_int32(batch + 8) != position - 12 ||
        load_int32(batch + 23) != index - 1) {
        end = -3;
    } else if (limit <= PyByteArray_GET_SIZE(buffer) && output.used <= limit - position) {
        memcpy(PyByteArray_AS_STRING(buffer) + position, PyBytes_AS_STRING(output.bytes), (size_t)output.used);
        end = position + output.used;
    }
    Py_DECREF(output.bytes);
    return end;
}

/* One try of append_in_place; -3: another record came in between, try again. */
static Py_ssize_t try_append(PyObject *buffer, Py_ssize_t limit, int64_t timestamp, PyObject *key, PyObject *value,
                             PyObject *headers, const char *open)
{
    if (!PyByteArray_CheckExact(buffer) || PyByteArray_GET_SIZE(buffer) < BATCH_HEADER_BYTES) {
        PyErr_SetString(PyExc_TypeError, "the batch must be a bytearray that holds a batch header");
        return -2;
    }
    if (limit > PyByteArray_GET_SIZE(buffer))
        limit = PyByteArray_GET_SIZE(buffer);
    if (limit > INT32_MAX)
        limit = INT32_MAX;
    uint8_t *batch = (uint8_t *)PyByteArray_AS_STRING(buffer);
    int64_t position = (int64_t)load_int32(batch + 8) + 12;
    int32_t index = load_int32(batch + 23);
    if (position < BATCH_HEADER_BYTES || position > PyByteArray_GET_SIZE(buffer) || index < -1 || index == INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "the buffer does not hold a batch under construction");
        return -2;
    }
    index++;
    int64_t base_timestamp = index == 0 ? timestamp : load_int64(batch + 27);
    int64_t max_timestamp = index == 0 ? timestamp : load_int64(batch + 35);
    if (timestamp > max_timestamp)
        max_timestamp = timestamp;
    if (position > limit)
        return -1;
    int64_t delta = subtract_wrapping(timestamp, base_timestamp);
    int plain = headers == Py_None || (PyList_CheckExact(headers) && PyList_GET_SIZE(headers) == 0) ||
                (PyTuple_CheckExact(headers) && PyTuple_GET_SIZE(headers) == 0);
    Py_ssize_t end = plain ? append_plain(batch, limit, (Py_ssize_t)position, delta, index, key, value) : -2;
    if (end == -2) {
        end = append_general(buffer, limit, (Py_ssize_t)position, delta, index, key, value, headers);
        if (end == -2 || end == -3)
            return end;
        if (open != NULL && !*open)
            return -1;
        batch = (uint8_t *)PyByteArray_AS_STRING(buffer);
    }
    if (end < 0)
        return -1;
    store_int32(batch + 8, (int32_t)(end - 12));
    store_int32(batch + 23, index);
    store_int64(batch + 27, base_timestamp);
    store_int64(batch + 35, max_timestamp);
    store_int32(batch + 57, index + 1);
    return index;
}

/* The record's index in the batch, -1 when it does not fit (or the batch was closed meanwhile), -2 for an error. From
the last look at the batch to the last byte written no Python code runs. */
static Py_ssize_t append_in_place(PyObject *buffer, Py_ssize_t limit, int64_t timestamp, PyObject *key, PyObject *value,
                                  PyObject *headers, const char *open)
{
    Py_ssize_t index;
    do {
        index = try_append(buffer, limit, timestamp, key, value, headers, open);
    } while (index == -3);
    return index;
}

/* See batch_builder.append: adds a record to the batch at the start of a bytearray; its index, or -1 when it does not
fit. */
static PyObject *append_record(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t limit;
    long long timestamp;
    if (check_arguments("append_record", count, 6, 6) < 0 || get_size(args[1], &limit) < 0 ||
        get_int64(args[2], &timestamp) < 0)
        return NULL;
    Py_ssize_t index = append_in_place(args[0], limit, timestamp, args[3], args[4], args[5], NULL);
    return index == -2 ? NULL : PyLong_FromSsize_t(index);
}

/* ---------------------------------------------------------------- batches that fill, and views on their records */

/* See pure_batches.OpenBatch. What is appended to, and what a view asks; the producer's batch class adds the rest. */
typedef struct {
    PyObject_HEAD
    PyObject *buffer;
    PyObject *callbacks;
    PyObject *delivery;
    PyObject *children;
    Py_ssize_t limit;
    Py_ssize_t record_count;
    char open;
} OpenBatch;

#define DELIVERY_FIELDS 4 /* base offset, log append time, error, errors of single records */

/* See pure_batches.SentRecord. Not tracked by the garbage collector: a million of them cost it nothing. */
typedef struct {
    PyObject_HEAD
    PyObject *batch;
    long long timestamp;
    int index;
    int key_size;
    int value_size;
} SentRecord;

static int open_batch_traverse(PyObject *self, visitproc visit, void *arg)
{
    OpenBatch *batch = (OpenBatch *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(batch->buffer);
    Py_VISIT(batch->callbacks);
    Py_VISIT(batch->delivery);
    Py_VISIT(batch->children);
    return 0;
}

static int open_batch_clear(PyObject *self)
{
    OpenBatch *batch = (OpenBatch *)self;
    Py_CLEAR(batch->buffer);
    Py_CLEAR(batch->callbacks);
    Py_CLEAR(batch->delivery);
    Py_CLEAR(batch->children);
    return 0;
}

static void open_batch_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    (void)open_batch_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *open_batch_get_open(PyObject *self, void *closure)
{
    return PyBool_FromLong(((OpenBatch *)self)->open);
}

/* After this returns no append is under way that saw the batch open. */
static int open_batch_set_open(PyObject *self, PyObject *value, void *closure)
{
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, "a batch is open or not");
        return -1;
    }
    int open = PyObject_IsTrue(value);
    if (open < 0)
        return -1;
    Py_BEGIN_CRITICAL_SECTION(self);
    ((OpenBatch *)self)->open = (char)open;
    Py_END_CRITICAL_SECTION();
    return 0;
}

static PyMemberDef open_batch_members[] = {
    {"buffer", T_OBJECT, offsetof(OpenBatch, buffer), 0, NULL},
    {"callbacks", T_OBJECT, offsetof(OpenBatch, callbacks), 0, NULL},
    {"delivery", T_OBJECT, offsetof(OpenBatch, delivery), 0, NULL},
    {"children", T_OBJECT, offsetof(OpenBatch, children), 0, NULL},
    {"limit", T_PYSSIZET, offsetof(OpenBatch, limit), 0, NULL},
    {"record_count", T_PYSSIZET, offsetof(OpenBatch, record_count), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef open_batch_properties[] = {
    {"open", open_batch_get_open, open_batch_set_open, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot open_batch_slots[] = {
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, open_batch_dealloc},
    {Py_tp_traverse, open_batch_traverse},
    {Py_tp_clear, open_batch_clear},
    {Py_tp_members, open_batch_members},
    {Py_tp_getset, open_batch_properties},
    {0, NULL},
};

static PyType_Spec open_batch_spec = {
    .name = "pykclient.protocol._accel.OpenBatch",
    .basicsize = sizeof(OpenBatch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = open_batch_slots,
};

static void sent_record_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((SentRecord *)self)->batch);
    type->tp_free(self);
    Py_DECREF(type);
}

static State *state_of_view(PyTypeObject *type)
{
    while (type->tp_dealloc != sent_record_dealloc)
        type = type->tp_base;
    return PyType_GetModuleState(type);
}

/* A view on a record of `batch`; index and sizes are for the caller to set. A class made in Python is always one of the
collector's; its instances are left untracked, as a view can be part of a cycle only through its batch (see shown() in
producer/batch.py for why it is not). */
static SentRecord *new_view(PyTypeObject *type, PyObject *batch)
{
    SentRecord *view = PyType_IS_GC(type) ? PyObject_GC_New(SentRecord, type) : PyObject_New(SentRecord, type);
    if (view != NULL) {
        Py_INCREF(batch);
        view->batch = batch;
    }
    return view;
}

static PyObject *sent_record_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *batch;
    int index, key_size, value_size;
    long long timestamp;
    static char *names[] = {"batch", "index", "timestamp", "key_size", "value_size", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OiLii", names, &batch, &index, &timestamp, &key_size,
                                     &value_size))
        return NULL;
    if (!PyObject_TypeCheck(batch, state_of_view(type)->open_batch)) {
        PyErr_SetString(PyExc_TypeError, "a view is on a record of an OpenBatch");
        return NULL;
    }
    SentRecord *view = new_view(type, batch);
    if (view == NULL)
        return NULL;
    view->timestamp = timestamp;
    view->index = index;
    view->key_size = key_size;
    view->value_size = value_size;
    return (PyObject *)view;
}

static PyObject *sent_record_get_delivered(PyObject *self, void *closure)
{
    OpenBatch *batch = (OpenBatch *)((SentRecord *)self)->batch;
    int plain = 0;
    Py_BEGIN_CRITICAL_SECTION(batch);
    PyObject *delivery = batch->delivery;
    if (delivery != NULL && PyTuple_Check(delivery) && PyTuple_GET_SIZE(delivery) == DELIVERY_FIELDS)
        plain = PyTuple_GET_ITEM(delivery, 2) == Py_None && PyTuple_GET_ITEM(delivery, 3) == Py_None;
    Py_END_CRITICAL_SECTION();
    return PyBool_FromLong(plain);
}

static PyMemberDef sent_record_members[] = {
    {"batch", T_OBJECT_EX, offsetof(SentRecord, batch), READONLY, NULL},
    {"index", T_INT, offsetof(SentRecord, index), READONLY, NULL},
    {"timestamp", T_LONGLONG, offsetof(SentRecord, timestamp), READONLY, NULL},
    {"key_size", T_INT, offsetof(SentRecord, key_size), READONLY, NULL},
    {"value_size", T_INT, offsetof(SentRecord, value_size), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef sent_record_properties[] = {
    {"delivered", sent_record_get_delivered, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot sent_record_slots[] = {
    {Py_tp_new, sent_record_new},
    {Py_tp_dealloc, sent_record_dealloc},
    {Py_tp_members, sent_record_members},
    {Py_tp_getset, sent_record_properties},
    {0, NULL},
};

static PyType_Spec sent_record_spec = {
    .name = "pykclient.protocol._accel.SentRecord",
    .basicsize = sizeof(SentRecord),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = sent_record_slots,
};

/* A view type is SentRecord or a class right below it that adds no fields. */
static int check_view_type(State *state, PyObject *type)
{
    if (PyType_Check(type)) {
        PyTypeObject *view = (PyTypeObject *)type;
        if ((view == state->sent_record || view->tp_base == state->sent_record) &&
            view->tp_basicsize == (Py_ssize_t)sizeof(SentRecord))
            return 0;
    }
    PyErr_SetString(PyExc_TypeError, "a view type must derive from SentRecord and add no fields");
    return -1;
}

static inline int content_length(PyObject *content)
{
    if (content == Py_None)
        return -1;
    Py_ssize_t size = PyBytes_CheckExact(content) ? PyBytes_GET_SIZE(content) : PyObject_Length(content);
    return size > INT32_MAX ? INT32_MAX : (int)size;
}

/* Everything that may run Python code comes first. From the look at `open` inside append_in_place until the callback is
noted nothing else runs, so that whoever closes the batch afterwards finds the record whole. */
static PyObject *append_view(PyTypeObject *type, PyObject *owner, int64_t timestamp, PyObject *key, PyObject *value,
                             PyObject *headers, PyObject *callback)
{
    OpenBatch *batch = (OpenBatch *)owner;
    int key_size = content_length(key), value_size = content_length(value);
    if ((key_size < 0 && key != Py_None) || (value_size < 0 && value != Py_None))
        return NULL;
    SentRecord *view = new_view(type, owner);
    if (view == NULL)
        return NULL;
    PyObject *note = NULL;
    if (callback != Py_None) {
        note = PyTuple_Pack(3, Py_None, callback, (PyObject *)view);
        if (note == NULL) {
            Py_DECREF(view);
            return NULL;
        }
    }
    Py_ssize_t index = -1;
    Py_BEGIN_CRITICAL_SECTION(owner);
    if (batch->open && batch->buffer != NULL) {
        PyObject *buffer = batch->buffer;
        Py_INCREF(buffer);
        index = append_in_place(buffer, batch->limit, timestamp, key, value, headers, &batch->open);
        Py_DECREF(buffer);
    }
    if (index >= 0) {
        batch->record_count = index + 1;
        view->index = (int)index;
        if (note != NULL) {
            PyObject *number = PyLong_FromSsize_t(index);
            if (number == NULL) {
                index = -2;
            } else {
                Py_DECREF(Py_None);
                PyTuple_SET_ITEM(note, 0, number);
                if (batch->callbacks == NULL || !PyList_CheckExact(batch->callbacks)) {
                    PyErr_SetString(PyExc_TypeError, "an open batch has a list of callbacks");
                    index = -2;
                } else if (PyList_Append(batch->callbacks, note) < 0) {
                    index = -2;
                }
            }
        }
    }
    Py_END_CRITICAL_SECTION();
    Py_XDECREF(note);
    if (index < 0) {
        Py_DECREF(view);
        if (index == -2)
            return NULL;
        Py_RETURN_NONE;
    }
    view->timestamp = timestamp;
    view->key_size = key_size;
    view->value_size = value_size;
    return (PyObject *)view;
}

/* See pure_batches.append_to. */
static PyObject *append_to(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    State *state = PyModule_GetState(module);
    long long timestamp;
    if (check_arguments("append_to", count, 7, 7) < 0 || check_view_type(state, args[0]) < 0)
        return NULL;
    if (!PyObject_TypeCheck(args[1], state->open_batch)) {
        PyErr_SetString(PyExc_TypeError, "what is appended to must be an OpenBatch");
        return NULL;
    }
    if (get_int64(args[2], &timestamp) < 0)
        return NULL;
    return append_view((PyTypeObject *)args[0], args[1], timestamp, args[3], args[4], args[5], args[6]);
}

/* A new reference to the batch that the record would go to, NULL without an error when there is none to be had here. */
static PyObject *find_batch(State *state, PyObject *lanes, PyObject *topic, PyObject *key, PyObject *partition)
{
    if (!PyDict_CheckExact(lanes) || !PyUnicode_CheckExact(topic))
        return NULL;
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *lane;
    if (PyDict_GetItemRef(lanes, topic, &lane) <= 0)
        return NULL;
#else
    PyObject *lane = PyDict_GetItemWithError(lanes, topic);
    if (lane == NULL)
        return NULL;
    Py_INCREF(lane);
#endif
    PyObject *batch = NULL;
    if (PyList_CheckExact(lane) && PyList_GET_SIZE(lane) > 1) {
        int32_t partition_count = (int32_t)(PyList_GET_SIZE(lane) - 1);
        Py_ssize_t at = -1;
        if (partition != Py_None) {
            if (PyLong_CheckExact(partition)) {
                int overflow;
                long chosen = PyLong_AsLongAndOverflow(partition, &overflow);
                at = !overflow && chosen >= 0 && chosen < partition_count ? chosen + 1 : -1;
            }
        } else if (key == Py_None) {
            at = 0;
        } else {
            int32_t hash = hash_murmur2((const uint8_t *)PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key));
            at = (hash & INT32_MAX) % partition_count + 1;
        }
        if (at >= 0) {
#if PY_VERSION_HEX >= 0x030D0000
            batch = PyList_GetItemRef(lane, at);
#else
            batch = PyList_GET_ITEM(lane, at);
            Py_INCREF(batch);
#endif
        }
    }
    Py_DECREF(lane);
    if (batch != NULL && !(PyObject_TypeCheck(batch, state->open_batch) && ((OpenBatch *)batch)->open))
        Py_CLEAR(batch);
    return batch;
}

/* See pure_batches.append_direct. The lock among the arguments is for the twin. */
static PyObject *append_direct(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    State *state = PyModule_GetState(module);
    if (check_arguments("append_direct", count, 10, 10) < 0 || check_view_type(state, args[0]) < 0)
        return NULL;
    PyObject *value = args[3], *key = args[4], *timestamp = args[6], *callback = args[7];
    if ((value != Py_None && !PyBytes_CheckExact(value)) || (key != Py_None && !PyBytes_CheckExact(key)))
        Py_RETURN_NONE;
#ifdef Py_GIL_DISABLED
    /* Whoever settles a batch takes its callbacks under the accumulator's lock. */
    if (callback != Py_None)
        Py_RETURN_NONE;
#endif
    PyObject *batch = find_batch(state, args[1], args[2], key, args[5]);
    if (batch == NULL) {
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    PyObject *view = NULL;
    long long milliseconds;
    if (timestamp == Py_None) {
        PyObject *nanoseconds = PyObject_CallNoArgs(args[8]);
        if (nanoseconds == NULL)
            goto done;
        milliseconds = PyLong_AsLongLong(nanoseconds) / 1000000;
        Py_DECREF(nanoseconds);
    } else {
        milliseconds = PyLong_CheckExact(timestamp) ? PyLong_AsLongLong(timestamp) : -1;
    }
    if (PyErr_Occurred())
        PyErr_Clear(); /* too large a number: the long way says so */
    else if (milliseconds >= 0) {
        view = append_view((PyTypeObject *)args[0], batch, milliseconds, key, value, Py_None, callback);
        goto done;
    }
    view = Py_None;
    Py_INCREF(view);
done:
    Py_DECREF(batch);
    return view;
}

/* ---------------------------------------------------------------- memory */

/* See pure.resize; here nothing is written to memory that will be overwritten anyway. */
static PyObject *resize(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t size;
    if (check_arguments("resize", count, 2, 2) < 0 || get_size(args[1], &size) < 0)
        return NULL;
    if (!PyByteArray_CheckExact(args[0])) {
        PyErr_SetString(PyExc_TypeError, "the buffer must be a bytearray");
        return NULL;
    }
    if (size < 0) {
        PyErr_SetString(PyExc_ValueError, "the size is negative");
        return NULL;
    }
    if (PyByteArray_Resize(args[0], size) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------- the module */

#define FAST(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

static PyMethodDef methods[] = {
    FAST(encode_records), FAST(decode_records), FAST(append_columns), FAST(encode_columns),
    FAST(murmur2_column), FAST(group_rows),     FAST(append_record),  FAST(append_to),
    FAST(append_direct),  FAST(skip_batches),   FAST(decode_batches), FAST(append_batches),
    FAST(resize),         FAST(split_records),  FAST(crc32c),         {"murmur2", murmur2, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyObject *import_from(const char *module_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);
    if (module == NULL)
        return NULL;
    PyObject *object = PyObject_GetAttrString(module, name);
    Py_DECREF(module);
    return object;
}

/* Where ConsumerRecord keeps its fields. A class of another shape is an ImportError: the pure twin is used then. */
static int find_slots(State *state)
{
    PyTypeObject *type = state->consumer_record;
    Py_ssize_t most = type->tp_basicsize - (Py_ssize_t)sizeof(PyObject *);
    for (int i = 0; i < RECORD_SLOTS; i++) {
        PyObject *descriptor = PyObject_GetAttrString((PyObject *)type, SLOT_NAMES[i]);
        if (descriptor == NULL)
            return -1;
        int fits = Py_IS_TYPE(descriptor, &PyMemberDescr_Type);
        if (fits) {
            PyMemberDef *member = ((PyMemberDescrObject *)descriptor)->d_member;
            state->slots[i] = member->offset;
            fits = member->type == Py_T_OBJECT_EX && member->offset >= (Py_ssize_t)sizeof(PyObject) &&
                   member->offset <= most;
        }
        Py_DECREF(descriptor);
        if (!fits) {
            PyErr_Format(PyExc_ImportError, "ConsumerRecord.%s is not a slot", SLOT_NAMES[i]);
            return -1;
        }
    }
    if (type->tp_itemsize != 0 || type->tp_dictoffset != 0) {
        PyErr_SetString(PyExc_ImportError, "ConsumerRecord has another shape than expected");
        return -1;
    }
    return 0;
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, (PyTypeObject *)type) < 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    state->corrupt_record_error = import_from("pykclient.errors", "CorruptRecordError");
    if (state->corrupt_record_error == NULL)
        return -1;
    PyObject *record = import_from("pykclient.types", "ConsumerRecord");
    if (record == NULL)
        return -1;
    if (!PyType_Check(record)) {
        Py_DECREF(record);
        PyErr_SetString(PyExc_ImportError, "ConsumerRecord is not a class");
        return -1;
    }
    state->consumer_record = (PyTypeObject *)record;
    prepare_crc(state);
    if (find_slots(state) < 0)
        return -1;
    state->open_batch = add_type(module, &open_batch_spec);
    state->sent_record = add_type(module, &sent_record_spec);
    return state->open_batch == NULL || state->sent_record == NULL ? -1 : 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->corrupt_record_error);
    Py_VISIT(state->consumer_record);
    Py_VISIT(state->open_batch);
    Py_VISIT(state->sent_record);
    return 0;
}

static int module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->corrupt_record_error);
    Py_CLEAR(state->consumer_record);
    Py_CLEAR(state->open_batch);
    Py_CLEAR(state->sent_record);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec},
#ifdef Py_mod_multiple_interpreters
                                          {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#ifdef Py_mod_gil
                                          {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                          {0, NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pykclient.protocol._accel",
    .m_doc = "The native twin of pykclient.protocol.pure_twin.",
    .m_size = sizeof(State),
    .m_methods = methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__accel(void)
{
    return PyModuleDef_Init(&module_definition);
}
