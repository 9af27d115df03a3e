package main

import (
	"errors"
	"sync"
	"time"
)

// ErrNotYours refuses a worker that finishes a job whose claim it has lost.
var ErrNotYours = errors.New("the claim has expired")

// Queue hands out jobs. A claim that is not finished in time expires, and the job is handed out again.
type Queue struct {
	// Checked makes Finish compare the worker with the holder of the claim.
	Checked bool

	mu      sync.Mutex
	timeout time.Duration
	jobs    []*job
	log     func(now time.Duration, msg, job, worker string)
}

type job struct {
	name    string
	worker  string // "" without a claim
	expires time.Duration
	done    bool
}

// Claim gives a job to a worker; "" if no job waits. It takes back the claims that have expired first.
func (q *Queue) Claim(now time.Duration, worker string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.jobs {
		if !j.done && j.worker != "" && j.expires <= now {
			j.worker = ""
			q.log(now, "claim expired", j.name, "")
		}
	}
	for _, j := range q.jobs {
		if !j.done && j.worker == "" {
			j.worker, j.expires = worker, now+q.timeout
			q.log(now, "job claimed", j.name, worker)
			return j.name
		}
	}
	return ""
}

// Finish marks a job as done.
func (q *Queue) Finish(now time.Duration, worker, name string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range q.jobs {
		if j.name == name {
			if q.Checked && j.worker != worker {
				q.log(now, "finish refused", name, worker)
				return ErrNotYours
			}
			j.worker, j.done = "", true
			q.log(now, "job finished", name, worker)
		}
	}
	return nil
}
