package main

import "sync"

type Groups struct {
	sync.Mutex
	tasks sync.WaitGroup
}

func (g *Groups) NewGroup() { g.Lock(); g.Unlock() }

func (g *Groups) Task() { meanwhile(1); g.NewGroup(); g.tasks.Done() }

func (g *Groups) Wait(fixed bool) {
	if fixed {
		g.tasks.Wait()
	}
	g.Lock()
	defer g.Unlock()
	if !fixed {
		g.tasks.Wait()
	}
}

func init() {
	programs["cockroach-165218"] = func(fixed bool) {
		g := &Groups{}
		g.tasks.Add(1)
		together(g.Task, func() { g.Wait(fixed) })
	}
}
