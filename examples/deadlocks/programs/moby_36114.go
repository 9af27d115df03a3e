package main

import "sync"

type Machine struct{ sync.Mutex }

func (m *Machine) AddDisks(fixed bool) {
	m.Lock()
	defer m.Unlock()
	if fixed { // the second disk cannot be added
		m.removeDisksLocked()
	} else {
		m.RemoveDisks()
	}
}

func (m *Machine) RemoveDisks() { m.Lock(); defer m.Unlock(); m.removeDisksLocked() }

func (m *Machine) removeDisksLocked() {}

func init() {
	programs["moby-36114"] = func(fixed bool) {
		machine := &Machine{}
		together(func() { machine.AddDisks(fixed) })
	}
}
