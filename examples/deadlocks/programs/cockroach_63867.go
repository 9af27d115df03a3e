package main

import "sync"

type Stopper struct {
	sync.RWMutex
	closers []func()
}

type Replica struct {
	sync.RWMutex
	stopper *Stopper
}

func (s *Stopper) Stop(fixed bool) {
	s.Lock()
	if fixed {
		s.Unlock()
	} else {
		defer s.Unlock()
	}
	meanwhile(1)
	for _, each := range s.closers {
		each()
	}
}

func (s *Stopper) RunTask() { s.RLock(); s.RUnlock() }

func (r *Replica) Visit() { r.RLock(); r.RUnlock() }

func (r *Replica) AcquireLease() { r.Lock(); defer r.Unlock(); meanwhile(1); r.stopper.RunTask() }

func init() {
	programs["cockroach-63867"] = func(fixed bool) {
		stopper := &Stopper{}
		replica := &Replica{stopper: stopper}
		stopper.closers = []func(){replica.Visit}
		together(func() { stopper.Stop(fixed) }, replica.AcquireLease)
	}
}
