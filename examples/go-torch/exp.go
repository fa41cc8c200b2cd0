package main

import "math"

// exp is e to the power of x, which must not be positive, with a relative error
// below 2e-7. math.Exp takes float64 and thereby several times as long.
func exp(x float32) float32 {
	const (
		log2e  = 1 / math.Ln2
		ln2    = 0.693359375 // with few bits, so that times a small integer it is exact
		ln2Low = math.Ln2 - ln2
		magic  = 3 << 22 // added to a small number, it leaves no room for a fraction
	)
	switch {
	case x != x: // NaN
		return x
	case x < -87:
		return 0
	}
	n := x*log2e + magic
	power := n - magic
	r := x - power*ln2 - power*ln2Low
	p := 1 + r*(1+r*(1.0/2+r*(1.0/6+r*(1.0/24+r*(1.0/120+r*(1.0/720+r*(1.0/5040)))))))
	return p * math.Float32frombits(uint32(int32(power)+127)<<23)
}
