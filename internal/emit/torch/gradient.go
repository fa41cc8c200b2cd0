package torch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlpackgen/dlpackgen/internal/emit/dispatcher"
	"github.com/dlpackgen/dlpackgen/internal/kernel/contract"
)

// viewGradient fills the data of a call's autograd record, and the arguments of its backward.
func viewGradient(k *contract.Kernel) gradient {
	g := gradient{Saving: k.Name + "_"}
	if len(k.Returned()) < len(k.Results) {
		g.Saving = dispatcher.SavingName(k) + "_"
	}
	for i := range k.Returned() {
		g.Back = append(g.Back, fmt.Sprintf("gradients_[%d].contiguous()", i))
	}
	tensors := 0
	for _, name := range k.Backward.Saves {
		g.save(k, name, &tensors)
	}
	for i, p := range k.Results {
		if !p.Saved {
			g.Returned = append(g.Returned, fmt.Sprintf("made_[%d]", i))
		}
	}
	for i, p := range k.Args {
		at := slices.Index(k.Backward.Of, i)
		switch {
		case at == contract.None:
			g.Of = append(g.Of, "at::Tensor()")
			if p.Kind == contract.Tensor {
				g.Forward = append(g.Forward,
					fmt.Sprintf("detail::reject_dropped(detail::described_site<Saving_, %d>, %s);", i, p.Name))
			}
		case p.Optional:
			g.Forward = append(g.Forward,
				fmt.Sprintf("context_->saved_data[%q] = %s.has_value();", "is "+p.Name, p.Name))
			g.Of = append(g.Of,
				fmt.Sprintf("context_->saved_data[%q].toBool() ? back_[%d] : at::Tensor()", "is "+p.Name, at))
		default:
			g.Of = append(g.Of, fmt.Sprintf("back_[%d]", at))
		}
	}
	g.ReturnedList, g.Passing = strings.Join(g.Returned, ", "), strings.Join(g.Back, ", ")
	g.OfList = strings.Join(g.Of, ", ")
	return g
}

// save adds an argument or a result to the saved values, and passes it to the backward.
func (g *gradient) save(k *contract.Kernel, name string, tensors *int) {
	i := k.Arg(name)
	if i != contract.None && k.Args[i].Kind != contract.Tensor {
		to, from := savedForm(k.Args[i])
		g.Forward = append(g.Forward, fmt.Sprintf("context_->saved_data[%q] = "+to+";", name, name))
		g.Back = append(g.Back, fmt.Sprintf("context_->saved_data[%q]."+from, name))
		return
	}
	value, back := fmt.Sprintf("made_[%d]", k.Result(name)), fmt.Sprintf("saved_[%d]", *tensors)
	if i != contract.None {
		value = name
		if k.Args[i].Optional {
			value, back = "detail::defined_or_not("+name+")", "detail::optional_of("+back+")"
		}
	}
	*tensors++
	g.Forward = append(g.Forward, fmt.Sprintf("keep_.push_back(%s);", value))
	g.Back = append(g.Back, back)
}

// savedForm returns how autograd's record stores a scalar or a list, and the expression that
// restores it.
func savedForm(p contract.Param) (to, from string) {
	switch p.Kind {
	case contract.Str:
		return "std::string(%s)", "toStringView()"
	case contract.Ints:
		return "%s.vec()", "toIntVector()"
	case contract.Floats:
		return "%s.vec()", "toDoubleVector()"
	case contract.Number:
		if p.Var != contract.None {
			return "%s", "toScalar()"
		}
	}
	return "%s", "to<" + cxx(p) + ">()"
}
