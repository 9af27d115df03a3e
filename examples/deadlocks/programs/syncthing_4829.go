package main

import "sync"

type Mapping struct{ sync.RWMutex }

func (m *Mapping) ClearAddresses(fixed bool) {
	m.Lock()
	if !fixed {
		m.Notify()
	}
	m.Unlock()
	if fixed {
		m.Notify()
	}
}

func (m *Mapping) Notify() { m.RLock(); m.RUnlock() }

func init() {
	programs["syncthing-4829"] = func(fixed bool) {
		mapping := &Mapping{}
		together(func() { mapping.ClearAddresses(fixed) })
	}
}
