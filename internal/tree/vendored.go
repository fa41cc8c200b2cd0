package tree

import (
	"maps"
	"slices"
)

// Verify compares a folder with its lock alone: neither the config nor the tool that made the files
// is needed, and the lock may be by a newer tool. The report has an item for each file of the
// lock: Unchanged, Missing or Modified.
func Verify(req Request) (*Report, error) { return system().verify(req) }

func (w world) verify(req Request) (*Report, error) {
	return w.run(req, false, func(want *want) (*Report, error) {
		want.sumsAlone = true
		d, err := w.enter(want, true)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		s, err := readSnapshot(want, d)
		if err != nil {
			return nil, err
		}
		if s.lockText == nil {
			return nil, fail(KindRequest, want.at(want.lock), "name the folder that has the lock, and vendor the lock too",
				"there is no lock to verify files by")
		}
		return verified(want, s), nil
	})
}

// verified judges the files of the lock.
func verified(want *want, s *snapshot) *Report {
	report := &Report{Writer: s.writer}
	for _, name := range slices.Sorted(maps.Keys(s.entries)) {
		it := Item{Path: name, Target: s.entries[name].target}
		switch f := s.files[name]; {
		case f.sum == none:
			it.State, it.Action = Missing, Create
		case f.sum != s.entries[name].sum:
			it.State, it.Dir = Modified, f.dir
		}
		report.Items = append(report.Items, it)
	}
	if s.interrupted {
		report.Items = append(report.Items, Item{Path: want.journal, State: Interrupted})
	}
	return report
}
