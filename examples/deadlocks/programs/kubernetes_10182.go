package main

import "sync"

type Statuses struct {
	sync.RWMutex
	updates chan int
}

func (s *Statuses) SetPodStatus() { s.Lock(); defer s.Unlock(); s.updates <- 1 }

func (s *Statuses) DeletePodStatus() { s.Lock(); s.Unlock() }

func (s *Statuses) SyncBatch(fixed bool) {
	<-s.updates
	meanwhile(2)
	if fixed { // the update fails
		go s.DeletePodStatus()
	} else {
		s.DeletePodStatus()
	}
}

func init() {
	programs["kubernetes-10182"] = func(fixed bool) {
		statuses := &Statuses{updates: make(chan int, 1)}
		worker := func() { statuses.SetPodStatus(); statuses.SetPodStatus(); statuses.SetPodStatus() }
		together(worker, func() { statuses.SyncBatch(fixed); statuses.SyncBatch(fixed) })
	}
}
