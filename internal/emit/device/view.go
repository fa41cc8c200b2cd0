package device

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/backend"
	"github.com/dlpackgen/dlpackgen/internal/cformat"
	"github.com/dlpackgen/dlpackgen/internal/spec"
)

// view is the data of the templates in templates/device.
type view struct {
	Name, Upper, Title, Doc          string
	InstallHint, StatusType, Call    string
	MinVersion, LookupFlags, Default int64
	Devices                          []memory
	Places                           []place
	Streams                          int
	IsVendor                         bool // the vendor writes a part
	Handles                          []backend.Handle
	Constants                        []backend.Constant
	Past                             []backend.Constant // those that were another number
	Types                            string             // "2, 3 and 13"
	Functions                        []function
	Lookups                          []lookup
	Linux, Windows                   []string
	Errors                           []backend.Error
	Numbers                          []number
}

// memory is a kind of memory with its device type, or -1.
type memory struct{ Memory, Type string }

// place is a device type, and whether its id is always 0.
type place struct {
	Type string
	Zero int
}

type function struct {
	backend.Function
	Optional int
}

type lookup struct {
	backend.Function
	Number int
}

// number is a DLPack stream number that is not a handle.
type number struct {
	Number   int64
	Rejected int
	Handle   int64
}

func viewOf(r *spec.Release, b *backend.Backend) view {
	v := view{
		Name: b.Name, Upper: strings.ToUpper(b.Name), Title: b.Title, Doc: b.Doc, InstallHint: b.InstallHint,
		StatusType: b.StatusType, Call: b.Call,
		MinVersion: b.MinVersion, LookupFlags: b.Library.LookupFlags, Devices: memories(b),
		Streams:  bit(b.Streams.Given),
		IsVendor: b.Implementation == backend.Custom, Constants: b.Constants, Linux: b.Library.Linux,
		Windows: b.Library.Windows,
	}
	for _, h := range b.Handles {
		h.C = cformat.Pointers(h.C)
		v.Handles = append(v.Handles, h)
	}
	for _, c := range b.Constants {
		if c.Was != nil {
			v.Past = append(v.Past, c)
		}
	}
	v.Types = types(r, b)
	for _, kind := range backend.Memories {
		for _, d := range b.Devices {
			if d.Memory == kind {
				v.Places = append(v.Places, place{d.Type, bit(d.IDIsZero())})
			}
		}
	}
	for _, f := range b.Functions {
		f.Returns = cformat.Pointers(cmp.Or(f.Returns, "driver_result"))
		f.Params = cformat.Pointers(f.Params)
		v.Functions = append(v.Functions, function{f, bit(f.Optional)})
	}
	for i, f := range b.Library.Lookups {
		f.Params = cformat.Pointers(f.Params)
		v.Lookups = append(v.Lookups, lookup{f, i})
	}
	for _, e := range b.Errors {
		e.Kind = strings.ToUpper(e.Kind)
		v.Errors = append(v.Errors, e)
	}
	v.Numbers, v.Default = numbers(streamTable(r, b), b)
	return v
}

// types lists the numbers of the device types, for a message.
func types(r *spec.Release, b *backend.Backend) string {
	values := map[string]int64{}
	if enum := spec.Find[*spec.Enum](r, "DLDeviceType"); enum != nil {
		for _, v := range enum.Values {
			values[v.Name] = v.Value
		}
	}
	var all []string
	for _, d := range b.Devices {
		all = append(all, fmt.Sprint(values[d.Type]))
	}
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// memories returns all kinds of memory. The device's own memory is first: its device type has the
// streams.
func memories(b *backend.Backend) (out []memory) {
	for _, kind := range backend.Memories {
		m := memory{kind, fmt.Sprint(backend.NoValue)}
		for _, d := range b.Devices {
			if d.Memory == kind {
				m.Type = d.Type
			}
		}
		out = append(out, m)
	}
	return out
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}

// streamTable returns the numbering of the backend's streams, or nil.
func streamTable(r *spec.Release, b *backend.Backend) *spec.StreamTable {
	for i := range r.Streams {
		if r.Streams[i].Name == b.Streams.Table {
			return &r.Streams[i]
		}
	}
	return nil
}

// numbers combines the stream numbers of the spec, or of the description, with the driver's
// handles. The sources themselves handle -1, which stands for no stream. Without numbers, the
// result has one row with a number that is rejected anyway, because C has no empty arrays. The
// second result is the handle of None.
func numbers(t *spec.StreamTable, b *backend.Backend) (out []number, none int64) {
	handles := map[int64]int64{}
	for _, h := range b.Streams.Aliases {
		handles[h.Number] = h.Handle
	}
	if t != nil {
		for _, v := range t.Values {
			if v.Value >= 0 {
				out = append(out, number{v.Value, bit(v.Meaning == spec.MeaningRejected), handles[v.Value]})
			}
		}
		return out, handles[b.Streams.None]
	}
	for _, rejected := range b.Streams.Rejected {
		out = append(out, number{rejected, 1, 0})
	}
	for _, h := range b.Streams.Aliases {
		out = append(out, number{h.Number, 0, h.Handle})
	}
	if out == nil {
		out = []number{{-2, 1, 0}}
	}
	return out, handles[b.Streams.None]
}
