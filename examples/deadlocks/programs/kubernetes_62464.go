package main

import "sync"

type State struct{ sync.RWMutex }

func (s *State) GetCPUSet() { s.RLock(); s.RUnlock() }

func (s *State) GetDefaultCPUSet() { s.RLock(); s.RUnlock() }

func (s *State) GetCPUSetOrDefault(fixed bool) {
	if !fixed {
		s.RLock()
		defer s.RUnlock()
		meanwhile(2)
	}
	s.GetCPUSet()
	s.GetDefaultCPUSet()
}

func (s *State) SetDefaultCPUSet() { s.Lock(); s.Unlock() }

func init() {
	programs["kubernetes-62464"] = func(fixed bool) {
		state := &State{}
		together(
			func() { state.GetCPUSetOrDefault(fixed) },
			func() { state.GetDefaultCPUSet(); meanwhile(1); state.SetDefaultCPUSet() },
		)
	}
}
