/* SPDX-License-Identifier: Apache-2.0 */
/* Private to replay: what is known of a completion queue and of the timestamps. */
#ifndef NOCAP_REPLAY_CQ_COMPLETION_H
#define NOCAP_REPLAY_CQ_COMPLETION_H

#include "replay/core/state.h"
#include "replay/core/value.h"

enum {
    CQ_EVENTS = 4096, /* host events under way */
    CQ_ANNOUNCED = 8, /* completion pointers under way */
};

struct cq_completion {
    struct value wr, due;   /* due: what it should have been, where it was wrong the last time */
    fault_id toggled;       /* since its toggle is not that of the lap: the host reads on for it */
    struct value stored;    /* what 0x196D0 holds */
    bool stored_new;        /* and +0x80 not yet */
    struct value unstored;  /* what +0x80 holds, and 0x196D0 not yet */
    struct value rd_read;   /* what the dispatcher read from 0x196E0 last */
    uint32_t payload_pages; /* since the last push */
    fault_id elsewhere;     /* where one of them went */
    uint64_t payload_index;
    uint64_t payload_landed, payloads;
    struct cq_announced { /* the latest pointers that left: each announces so many payloads */
        uint32_t value;
        uint64_t payloads;
        fault_id since; /* one of them went elsewhere */
    } announced[CQ_ANNOUNCED];
    uint32_t announced_count;
    /* where only landings are seen, or only what the host reads */
    bool lands, landed_seen; /* the device's writes are seen landing; pages are */
    uint32_t late_pages;     /* announced before they landed */
    fault_id altered;        /* a page or pointer did not arrive as it was sent .. */
    uint64_t altered_pages;  /* .. when so many pages had been */
    struct value shown;      /* the pointer that the host saw last */
    uint64_t pages_shown;    /* so many pages it has moved on */
    uint64_t early_for; /* payloads that a pointer announced which landed before them; 0: none */
    uint32_t absent;    /* a page that had not come when the host read it; 0: none */
    struct event_ref pointer_at;
    struct cq_announced early; /* what it announced */
    fault_id unmatched;        /* a write that no command says: perhaps the pointer's copy */
    fault_id unwritten;        /* the pointer moved on before the page was written */
    /* the host */
    struct value rd;
    struct value seen;     /* pointer that the host read */
    struct value left_out; /* a read pointer that was not stored: it may come yet */
    struct value given;    /* the read pointer that it stored to 0x196E0, and not to +0xc0 yet */
    struct value copied;   /* one that it wrote to +0xc0 first */
    struct value uncopied; /* one that it did not write there: it may be yet */
    bool page_read;
    uint64_t pages_read, read_turn; /* .. when the host gave one back last */
    /* event ids under way */
    uint32_t ids[CQ_EVENTS];
    fault_id ids_since[CQ_EVENTS]; /* of each */
    uint64_t id_count;
    struct cq_returned {
        uint64_t next;  /* number of the event that comes back next */
        fault_id since; /* known since */
        bool lost;      /* one came back that is not known */
    } device, host;     /* as each sees it */
    struct cq_page_id {
        bool known;
        uint32_t id;
    } * page_id; /* of the ring, as the dispatcher wrote them */
    bool ids_whole;
};

struct cq_timestamps {
    struct cq_stamp {
        uint32_t ready; /* events that must be seen before it is read, 0: none */
        uint64_t index;
    } * slots;
    bool any;
    struct value early; /* the event before which one was read */
};

struct access;
struct cq;

/* cq_completion.c: completion queue, timestamps */
void cq_completion_init(struct cq *q, bool origin);
void cq_completion_payload(struct cq *q, const struct access *a);
/* The dispatcher wrote where no completions are, perhaps the page that is due. */
void cq_completion_strayed(struct cq *q, fault_id since);
void cq_completion_pointer(struct cq *q, const struct access *a);
/* A new write pointer, wherever it is seen first. */
void cq_completion_moved(struct cq *q, uint32_t value);
void cq_completion_core(struct cq *q, const struct access *a);
void cq_completion_dma(struct cq *q, const struct access *a);
/* A write has left, and what is wrong with it is known. */
void cq_completion_left(struct cq *q, const struct nocap_event *e);
/* Whether what was written to host memory arrived as it was sent is known. */
void cq_completion_arrived(struct cq *q);
void cq_completion_memory(struct cq *q, const struct access *a);
/* A pointer is there, and its page is not. */
void cq_judge_early(struct cq *q);

/* cq_completion_host.c: the host reads pages and gives them back */
void cq_completion_host_store(struct cq *q, uint32_t value);
void cq_completion_host_sysmem(struct cq *q, const struct access *a);

/* cq_completion_ids.c: events under way */
/* An event is on its way; `since`: what is wrong with it. */
void cq_completion_sent(struct cq *q, uint32_t id, fault_id since);
/* The latest of them may have been sent with another id. */
void cq_completion_doubt(struct cq *q, fault_id since);
/* A record that is not known: it may have been an event, or a timestamp. */
void cq_completion_lose(struct cq *q);
/* Which of the events under way an id is of, by number, from `first` on; their count: of none. */
uint64_t cq_completion_find(const struct cq_completion *c, uint64_t first, uint32_t id);
/* Which event comes back: in the order in which they were sent. `since`: what is wrong with where
 * the id was found. */
void cq_completion_judge_id(struct cq *q, uint32_t id, struct cq_returned *line, fault_id since,
                            uint8_t agent);

/* cq_timestamp.c: those that the dispatcher writes, and when the host may read them */
void cq_timestamps_forget(struct cq *q);
void cq_timestamp_sent(struct cq *q, uint64_t addr);
void cq_timestamp_read(struct cq *q, uint64_t addr);
/* Another core than the dispatcher writes to host memory there, for its own times. */
void cq_timing_written(struct cq *q, uint64_t addr);

/* cq_pointer.c: the completion pointer where little of the dispatcher is observed */
/* A page, or a part of it, where only its landing is seen. */
void cq_pointer_page(struct cq *q, const struct access *a);
/* So with the pointer: it announces the pages that have landed. */
void cq_pointer_landed(struct cq *q, uint32_t value);
/* The host sees it, and nothing shows the device: at most so many pages on as it has asked for, and
 * never back. */
void cq_pointer_shown(struct cq *q, uint32_t value);

#endif
