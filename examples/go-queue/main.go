// A load test of the queue: workers claim jobs and finish them, in simulated time, and one of them is slow.
// It prints the log of the queue, one JSON object a line. With -checked, the queue refuses late workers.
package main

import (
	"encoding/json"
	"flag"
	"os"
	"sort"
	"time"
)

type worker struct {
	name  string
	takes time.Duration // for each job
	job   string        // "" if it has none
	wakes time.Duration
}

func main() {
	checked := flag.Bool("checked", false, "refuse a worker that finishes a job whose claim it has lost")
	flag.Parse()
	lines := json.NewEncoder(os.Stdout)
	queue := &Queue{Checked: *checked, timeout: 300 * time.Millisecond}
	queue.log = func(now time.Duration, msg, job, worker string) {
		line := map[string]any{"ms": now.Milliseconds(), "msg": msg, "job": job}
		if worker != "" {
			line["worker"] = worker
		}
		if err := lines.Encode(line); err != nil {
			panic(err)
		}
	}
	for _, name := range []string{"backup", "index", "report"} {
		queue.jobs = append(queue.jobs, &job{name: name})
	}
	workers := []*worker{{name: "ann", takes: 450 * time.Millisecond}, {name: "bob", takes: 200 * time.Millisecond}}
	for now := time.Duration(0); now < 2*time.Second; now = workers[0].wakes {
		for _, w := range workers {
			if w.wakes > now {
				continue
			}
			if w.job != "" {
				_ = queue.Finish(now, w.name, w.job) // a worker can do nothing about it
			}
			w.job = queue.Claim(now, w.name)
			w.wakes = now + w.takes
			if w.job == "" {
				w.wakes = now + 100*time.Millisecond
			}
		}
		sort.SliceStable(workers, func(a, b int) bool { return workers[a].wakes < workers[b].wakes })
	}
}
