/* SPDX-License-Identifier: Apache-2.0 */
/* sleeps SECONDS: sleeps as long in every way, in simulated time; the report has the times. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static volatile int came;

static void note(int number) {
  came = number;
}

/* A program that has not called sleeps as without npusim, and hears what is left. */
static void sleep_unknown(void) {
  const struct itimerval soon = {{0, 0}, {0, 20000}};
  const struct timespec length = {1000, 0};
  struct timespec rest = {0, 0};
  struct sigaction action = {.sa_handler = note};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &soon, NULL);
  errno = 0;
  REQUIRE(nanosleep(&length, &rest) == -1 && errno == EINTR && came == SIGALRM);
  REQUIRE(rest.tv_sec == 999 && rest.tv_nsec > 0);
  setitimer(ITIMER_REAL, &soon, NULL);
  REQUIRE(sleep(1000) == 999);
  setitimer(ITIMER_REAL, &soon, NULL);
  REQUIRE(clock_nanosleep(CLOCK_MONOTONIC, 0, &length, &rest) == EINTR && rest.tv_sec == 999);
}

int main(int argc, char** argv) {
  const unsigned seconds = argc > 1 ? (unsigned)atol(argv[1]) : 1;
  const struct timespec length = {(time_t)seconds, 0}, none = {-1, 0};
  struct timespec rest = {5, 5}, passed = {1, 0};
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  sleep_unknown();
  OK(aclInit(NULL));
  setitimer(ITIMER_REAL, &often, NULL); /* signals make no sleep shorter */
  REQUIRE(sleep(seconds) == 0);
  REQUIRE(nanosleep(&length, &rest) == 0 && rest.tv_sec == 0 && rest.tv_nsec == 0);
  REQUIRE(clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL) == 0);
  REQUIRE(usleep(seconds * 1000) == 0);
  setitimer(ITIMER_REAL, &never, NULL);
  REQUIRE(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &passed, NULL) == 0);
  REQUIRE(nanosleep(&none, NULL) == -1 && errno == EINVAL);
  REQUIRE(clock_nanosleep(CLOCK_MONOTONIC, 0, &none, NULL) == EINVAL);
  return end_right();
}
