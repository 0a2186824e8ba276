package linediff

// slide moves pure insertions and deletions along equal lines. "Insert X after Y"
// and "insert Y X before Y" are the same edit where the text repeats, and the
// search returns any of them. A block is moved, in this order of preference, up or
// down against a neighbour, which makes one block of two (fewer hunks, and a
// deletion beside an insertion reads as the replacement it is); else as far down
// as it goes, where an added function follows the closing brace before it.
//
// It returns the blocks and the number of lines moved over. That number is bounded
// by a multiple of the input, after which the rest stays where it is: every position
// is a correct one.
func slide(a, b []string, in []block) ([]block, int) {
	out := in[:0] // never longer than what has been read of in
	slides, limit := 0, 8*(len(a)+len(b))
	for i, k := range in {
		for {
			if slides >= limit {
				out = append(out, k)
				break
			}
			gapUp := k.a0
			if len(out) > 0 {
				gapUp = k.a0 - out[len(out)-1].a1
			}
			gapDown := len(a) - k.a1
			if i+1 < len(in) {
				gapDown = in[i+1].a0 - k.a1
			}
			up, down := k.room(a, b, gapUp, gapDown)
			slides += up + down
			if len(out) > 0 && up == gapUp {
				p := out[len(out)-1]
				out = out[:len(out)-1]
				k = block{p.a0, k.a1 - up, p.b0, k.b1 - up}
				continue // the larger block may have room of its own
			}
			k = block{k.a0 + down, k.a1 + down, k.b0 + down, k.b1 + down}
			if i+1 < len(in) && down == gapDown {
				// Touches the next one: hand it over and go on with both.
				n := &in[i+1]
				n.a0, n.b0 = k.a0, k.b0
			} else {
				out = append(out, k)
			}
			break
		}
	}
	return out, slides
}

// room returns how far the block can move up and down, at most gapUp and gapDown.
func (k block) room(a, b []string, gapUp, gapDown int) (up, down int) {
	lines, from, to := a, k.a0, k.a1
	if k.a0 == k.a1 {
		lines, from, to = b, k.b0, k.b1
	} else if k.b0 != k.b1 {
		return 0, 0
	}
	for up < gapUp && lines[from-up-1] == lines[to-up-1] {
		up++
	}
	for down < gapDown && lines[from+down] == lines[to+down] {
		down++
	}
	return up, down
}
