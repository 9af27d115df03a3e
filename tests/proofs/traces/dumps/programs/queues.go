// Two goroutines lock two queues from both ends, one of them for reading, and never end.
package main

import (
	"sync"
	"time"
)

type Queue struct {
	name string
	sync.RWMutex
	parent *Queue
}

//go:noinline
func (q *Queue) ApplyConf(child *Queue) {
	q.Lock()
	defer q.Unlock()
	time.Sleep(100 * time.Millisecond)
	child.SetTemplate()
}

//go:noinline
func (q *Queue) SetTemplate() {
	q.Lock()
	defer q.Unlock()
	q.name = "applied"
}

//go:noinline
func (q *Queue) TryAllocate() {
	q.Lock()
	defer q.Unlock()
	time.Sleep(100 * time.Millisecond)
	q.parent.incPending()
}

//go:noinline
func (q *Queue) incPending() {
	q.RLock()
	defer q.RUnlock()
	println(q.name)
}

func main() {
	root := &Queue{name: "root"}
	leaf := &Queue{name: "leaf", parent: root}
	go root.ApplyConf(leaf)
	go leaf.TryAllocate()
	time.Sleep(time.Minute)
}
