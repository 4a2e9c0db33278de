package horizon

// Slot is one slot that holds something.
type Slot struct {
	Slot int
	Stack
}

// Bag is what `inventory` lets through.
type Bag struct {
	Slots    []Slot
	Selected int
	Offhand  *Stack
	Carried  *Stack
}

// Cell is what `block` lets through. Block state and everything else is dropped.
type Cell struct {
	Pos    [3]int32
	Block  string
	Loaded bool
}

const maxSlots = 256

// Inventory projects the reply to Inventory.
func (r Reply) Inventory() (Bag, error) {
	f := fields{m: r.members}
	b := Bag{Selected: int(f.count("selected")), Offhand: f.stack("offhand"), Carried: f.stack("carried")}
	items, err := array(f.m["slots"], maxSlots+1)
	if err != nil || len(items) > maxSlots {
		f.fault("slots", "a list of slots")
		return Bag{}, f.err
	}
	seen := map[int]bool{}
	for _, it := range items {
		m, err := members(it)
		if err != nil {
			f.fault("slots", "a list of objects")
			break
		}
		e := fields{m: m, path: "slots."}
		s := Slot{Slot: int(e.count("slot")), Stack: Stack{Item: e.str("item", maxLabel), Count: int(e.count("count")), Special: e.special()}}
		if seen[s.Slot] {
			e.fault("slot", "a number that no other slot has")
		}
		seen[s.Slot] = true
		f.take(&e)
		b.Slots = append(b.Slots, s)
	}
	return b, f.err
}

// Block projects the reply to Block. A cell that isn't loaded has no known block.
func (r Reply) Block() (Cell, error) {
	f := fields{m: r.members}
	p := f.vec3("pos")
	c := Cell{Loaded: f.boolean("loaded")}
	for i, v := range p {
		c.Pos[i] = int32(v)
		if float64(c.Pos[i]) != v {
			f.fault("pos", "three whole numbers")
		}
	}
	if c.Loaded {
		c.Block = f.str("block", maxLabel)
	}
	return c, f.err
}
