/* Scenarios of the kinds of mutexes, of semaphores and of conditions. A scenario that stands still is ended by an alarm. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef void *(*body)(void *);

static pthread_mutex_t m;
static pthread_cond_t v = PTHREAD_COND_INITIALIZER;
static sem_t p;
static int n = 0;

static void of_kind(int kind) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutex_init(&m, &attributes);
}

static void *again(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    if (pthread_mutex_lock(&m) == 0) pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}

static void *once_of_two(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}

static void *once(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}

static void *releases(void *unused) { (void)unused; pthread_mutex_unlock(&m); return 0; }
static void *takes_two(void *unused) { (void)unused; sem_wait(&p); sem_wait(&p); return 0; }
static void *posts(void *unused) { (void)unused; sem_post(&p); return 0; }
static void *signals(void *unused) { (void)unused; pthread_cond_signal(&v); return 0; }

static void *waits(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    pthread_cond_wait(&v, &m);
    pthread_mutex_unlock(&m);
    return 0;
}

static void *waits_in_a_loop(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    while (n == 0) pthread_cond_wait(&v, &m);
    pthread_mutex_unlock(&m);
    return 0;
}

static void *sets(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    n = 1;
    pthread_cond_signal(&v);
    pthread_mutex_unlock(&m);
    return 0;
}

static void one_time(void) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += 400000000;
    if (end.tv_nsec >= 1000000000) { end.tv_sec++; end.tv_nsec -= 1000000000; }
    pthread_cond_timedwait(&v, &m, &end);
}

static void *waits_for_a_time(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    one_time();
    pthread_mutex_unlock(&m);
    return 0;
}

static void *waits_again(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    while (n == 0) one_time();
    pthread_mutex_unlock(&m);
    return 0;
}

static void *sets_only(void *unused) {
    (void)unused;
    pthread_mutex_lock(&m);
    n = 1;
    pthread_mutex_unlock(&m);
    return 0;
}

static void all(body one, body two) {
    pthread_t first, second;
    pthread_create(&first, 0, one, 0);
    usleep(200000);
    if (two) pthread_create(&second, 0, two, 0);
    pthread_join(first, 0);
    if (two) pthread_join(second, 0);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    sem_init(&p, 0, 1);
    of_kind(strstr(name, "recursive") ? PTHREAD_MUTEX_RECURSIVE
            : strstr(name, "errorcheck") ? PTHREAD_MUTEX_ERRORCHECK : PTHREAD_MUTEX_NORMAL);
    alarm(2);
    if (!strcmp(name, "normal, again") || !strcmp(name, "recursive, again, ends")) all(again, 0);
    else if (!strcmp(name, "errorcheck, again, ends")) all(again, once);
    else if (!strcmp(name, "recursive, released once of two")) all(once_of_two, once);
    else if (!strcmp(name, "errorcheck, not held, ends")) all(releases, once);
    else if (!strcmp(name, "semaphore, twice")) all(takes_two, 0);
    else if (!strcmp(name, "semaphore, released by another, ends")) all(takes_two, posts);
    else if (!strcmp(name, "signal lost")) all(signals, waits);
    else if (!strcmp(name, "waits in a loop, ends")) all(waits_in_a_loop, sets);
    else if (!strcmp(name, "waits for a time, ends")) all(waits_for_a_time, once);
    else if (!strcmp(name, "waits again and again, ends")) all(waits_again, sets_only);
    else if (!strcmp(name, "no time, no signal")) all(waits_in_a_loop, sets_only);
    else return 2;
    return 0;
}
