package lab

// Vertical bounds of the world, inclusive.
const (
	MinY = -64
	MaxY = 319
)

const (
	air     = "minecraft:air"
	stone   = "minecraft:stone"
	grass   = "minecraft:grass_block"
	bedrock = "minecraft:bedrock"
	planks  = "minecraft:oak_planks"
)

// flatRadius is how far around the origin there are no hills.
const flatRadius = 24

// ground is the height of the topmost block of flat land: one stands at ground+1.
const ground = 63

// loadedChunks is how many chunks around the player are there, in each direction, unless the options say otherwise.
const loadedChunks = 10

type cell struct{ x, y, z int }

func (c cell) add(x, y, z int) cell { return cell{c.x + x, c.y + y, c.z + z} }

// world is flat stone and grass with hills, computed from a seed, and what was changed.
// It is guarded by the game's lock.
type world struct {
	seed    uint64
	flat    bool
	changed map[cell]string
}

func newWorld(seed uint64, flat bool) *world {
	return &world{seed: seed, flat: flat, changed: map[cell]string{}}
}

func (w *world) at(c cell) string {
	if b, ok := w.changed[c]; ok {
		return b
	}
	top := w.height(c.x, c.z)
	switch {
	case c.y > top || c.y < MinY:
		return air
	case c.y == MinY:
		return bedrock
	case c.y == top && w.grassy(c.x, c.z):
		return grass
	}
	return stone
}

func (w *world) solid(c cell) bool { return w.at(c) != air }

func (w *world) set(c cell, block string) { w.changed[c] = block }

// height is the y of the topmost natural block. Neighbours differ by at most one, so
// that hills can be walked.
func (w *world) height(x, z int) int {
	if w.flat {
		return ground
	}
	h := 0
	const pitch, reach = 24, 7
	gx, gz := floorDiv(x, pitch), floorDiv(z, pitch)
	for i := gx - 1; i <= gx+1; i++ {
		for j := gz - 1; j <= gz+1; j++ {
			r := w.hash(i, j)
			cx, cz := i*pitch+int(r%pitch), j*pitch+int(r>>8%pitch)
			if abs(cx)-reach < flatRadius && abs(cz)-reach < flatRadius {
				continue
			}
			h = max(h, int(r>>16%6)-max(abs(x-cx), abs(z-cz)))
		}
	}
	return ground + max(h, 0)
}

// grassy says whether the surface of an 8×8 patch is grass and not plain stone.
func (w *world) grassy(x, z int) bool { return w.hash(floorDiv(x, 8)+1000, floorDiv(z, 8)-1000)&3 == 0 }

func (w *world) hash(x, z int) uint64 {
	v := w.seed*0x9E3779B97F4A7C15 ^ uint64(int64(x))*0xBF58476D1CE4E5B9 ^ uint64(int64(z))*0x94D049BB133111EB
	v ^= v >> 30
	v *= 0xBF58476D1CE4E5B9
	v ^= v >> 27
	v *= 0x94D049BB133111EB
	return v ^ v>>31
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func abs(a int) int {
	if a < 0 {
		return -a
	}
	return a
}
