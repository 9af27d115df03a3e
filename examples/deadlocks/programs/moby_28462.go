package main

import "sync"

type Container struct {
	sync.Mutex
	stop    chan int
	results chan int
}

func (c *Container) HandleProbeResult() { c.Lock(); c.Unlock() }

func (c *Container) Monitor() {
	go func() { c.results <- 1 }()
	select {
	case <-c.stop:
	case <-c.results:
		meanwhile(2)
		c.HandleProbeResult()
		<-c.stop
	}
}

func (c *Container) StateChanged(fixed bool) {
	meanwhile(1)
	c.Lock()
	defer c.Unlock()
	if fixed {
		close(c.stop)
	} else {
		c.stop <- 1
	}
}

func init() {
	programs["moby-28462"] = func(fixed bool) {
		c := &Container{stop: make(chan int), results: make(chan int)}
		together(c.Monitor, func() { c.StateChanged(fixed) })
	}
}
