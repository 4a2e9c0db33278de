package grammar

import (
	"strings"
	"sync"

	"blockworld-voice/internal/lang"
)

// class is the part that a number word plays.
type class uint8

const (
	classZero     class = iota + 1
	classOh             // the English zero digit
	classUnit           // 1 … 9
	classTeen           // 10 … 19
	classTens           // 20, 30 … 90
	classHundred        // the word that multiplies by a hundred
	classHundreds       // one word for a whole hundred: 200, 300 …
	classThousand       // the word that multiplies by a thousand
	classAnd            // joins hundreds or thousands to the rest: "one hundred and five"
	classA              // the article of "a hundred", the link of "pět a dvacet"
	classMinus
	classPoint
	classDigits // a number written with digits
)

// role is a property of a word form.
type role uint8

const (
	roleBare    role = 1 << iota // stands for one hundred or one thousand by itself
	roleOne                      // a unit that may stand before the hundred: "jedno sto", "one hundred"
	roleBound                    // only inside a joined word: "jedn" in "jednadvacet"
	roleArticle                  // "a" before hundred and thousand
	roleLink                     // "a" between a unit and tens
	roleLead                     // a decimal point that may be meant with nothing before it: "point five"
	roleTight                    // a unit that may be meant as hundreds: "one twenty"
)

// numeral is one entry of a language's number words.
type numeral struct {
	class class
	value int
	// forms are the spellings, the default first, that decoding may produce and the parser reads.
	forms string
	// heard are further case forms and misspellings that only the parser reads.
	heard string
	roles role
	// after lists, for hundreds and thousands, the words that may stand before it in decoding;
	// empty allows any. The parser doesn't ask.
	after string
}

// joint names a place where two words of one number meet.
type joint uint8

const (
	jointTensUnit joint = iota
	jointInverted       // around the link of "pětadvacet"
	jointHundred        // before the hundred
	jointHundredRest
	jointThousand // before the thousand
	jointThousandRest
	jointOther // minus, point, decimals, and, article
	jointCount
)

// joinBits says how two words may meet in decoding.
type joinBits uint8

const (
	joinSpace joinBits = 1 << iota
	joinNone
	joinHyphen
)

// phrases are the spellings of one command, the default first.
type phrases struct {
	kind  Kind
	words []string
}

// table is everything that the grammar knows about one language.
type table struct {
	language lang.Language
	code     string
	name     string
	// family groups languages whose words may stand inside one number.
	family uint8
	// letters are the accented letters, plain the letters that they are matched as.
	letters, plain string
	commands       []phrases
	numerals       []numeral
	joints         [jointCount]joinBits
	// labels are the spoken names of the axes beside x, y and z.
	labels [3]string
	// decimalComma: a comma between digits may be a decimal point.
	decimalComma bool
	// tightHundreds: "one twenty" may be meant as 120. Such readings are never accepted; they make a text ambiguous.
	tightHundreds bool
	// spell writes a whole number 0 … 30 000; spellPoint a whole number and the decimal point after it.
	spell      func(w *writer, n int)
	spellPoint func(w *writer, n int)
	// sayings are texts to say for random sentences.
	sayings []string

	once    sync.Once
	byValue map[wordKey]wordEntry
}

// atom is one number word as the number machine sees it.
type atom struct {
	class  class
	roles  role
	family uint8 // bit set
	// The families in which "a" is a link or an article.
	link, article uint8
	value         int32
	// Digits only:
	frac   uint8
	digits uint8 // of the whole part
	neg    bool
	point  bool // it has decimals
	plain  bool // neither sign nor decimals
	fine   bool // three decimals, or a group of thousands: nobody can tell
}

// wordInfo is what the merged lexicon knows about one folded word.
type wordInfo struct {
	id    uint16 // in command phrases; 0: none
	label uint8  // 1, 2, 3 for x, y, z
	first bool   // begins a command
	atom  atom   // class 0: no number word
}

// lexicon is the merged table of all languages.
type lexicon struct {
	tables  []*table
	words   map[string]*wordInfo
	byID    []string
	verbs   []verbNode
	trie    []trieNode
	atoms   []atom
	fold    map[rune]byte
	marks   map[rune]bool
	latin   [0x250]byte // fold for the runes below U+0250, 0: not a letter of ours
	problem []string    // collisions, for the test
}

// verbNode is a node of the tree of command phrases.
type verbNode struct {
	next  []verbEdge
	kind  Kind // 0: no phrase ends here
	langs []lang.Language
	// families of the number words that may follow; the canonical names of commands take any.
	families uint8
}

type verbEdge struct {
	word uint16
	glue bool // a hyphen, not a space, stands before the word
	node int32
}

// trieNode is a node of the tree of number words that may stand in joined words.
type trieNode struct {
	next [26]int32
	atom int32 // index+1 into atoms
}

var merged = newLexicon(&tableSK, &tableCS, &tableEN)

func newLexicon(tables ...*table) *lexicon {
	l := &lexicon{tables: tables, words: map[string]*wordInfo{}, byID: []string{""}, verbs: make([]verbNode, 1), trie: make([]trieNode, 1)}
	l.buildFold()
	for _, t := range tables {
		for _, n := range t.numerals {
			for _, w := range strings.Fields(n.forms + " " + n.heard) {
				l.addNumeral(t, n, w)
			}
		}
		for i := range 3 {
			l.addLabel("xyz"[i:i+1], i)
			if t.labels[i] != "" {
				l.addLabel(t.labels[i], i)
			}
		}
		for _, c := range t.commands {
			for _, p := range c.words {
				l.addPhrase(t, c.kind, p)
			}
		}
	}
	for w, info := range l.words {
		if info.atom.class != 0 {
			l.addJoinable(w, info.atom)
		}
	}
	return l
}

func (l *lexicon) word(folded string) *wordInfo {
	w := l.words[folded]
	if w == nil {
		w = &wordInfo{}
		l.words[folded] = w
	}
	return w
}

func (l *lexicon) addNumeral(t *table, n numeral, spelling string) {
	f := l.foldWord(spelling)
	w := l.word(f)
	a := &w.atom
	if a.class != 0 && (a.class != n.class || a.value != int32(n.value)) {
		l.problem = append(l.problem, t.code+": "+spelling+" already has another number meaning")
		return
	}
	if n.roles&roleBound != 0 && a.class != 0 {
		return // a bound form that is also a free word is the free word
	}
	a.class, a.value = n.class, int32(n.value)
	a.roles |= n.roles
	if n.roles&roleLink != 0 {
		a.link |= 1 << t.family
	}
	if n.roles&roleArticle != 0 {
		a.article |= 1 << t.family
	}
	if t.tightHundreds {
		a.roles |= roleTight
	}
	a.family |= 1 << t.family
}

func (l *lexicon) addLabel(spelling string, axis int) {
	w := l.word(l.foldWord(spelling))
	if w.label != 0 && w.label != uint8(axis+1) || w.atom.class != 0 {
		l.problem = append(l.problem, "label "+spelling+" has another meaning")
		return
	}
	w.label = uint8(axis + 1)
}

func (l *lexicon) addPhrase(t *table, k Kind, phrase string) {
	at := int32(0)
	for i, part := range strings.Fields(phrase) {
		for j, piece := range strings.Split(part, "-") {
			w := l.word(l.foldWord(piece))
			if w.id == 0 {
				w.id = uint16(len(l.byID))
				l.byID = append(l.byID, l.foldWord(piece))
			}
			if i == 0 && j == 0 {
				w.first = true
				if w.atom.class != 0 || w.label != 0 {
					l.problem = append(l.problem, t.code+": command "+phrase+" begins with a number word")
				}
			}
			at = l.verbChild(at, w.id, j > 0)
		}
	}
	n := &l.verbs[at]
	if n.kind != 0 && n.kind != k {
		l.problem = append(l.problem, t.code+": "+phrase+" means two commands")
		return
	}
	n.kind = k
	n.langs = append(n.langs, t.language)
	n.families |= 1 << t.family
	if phrase == k.String() {
		n.families = 0xff
	}
}

func (l *lexicon) verbChild(at int32, word uint16, glue bool) int32 {
	if n := l.verbStep(at, word, glue); n >= 0 {
		return n
	}
	n := int32(len(l.verbs))
	l.verbs = append(l.verbs, verbNode{})
	l.verbs[at].next = append(l.verbs[at].next, verbEdge{word, glue, n})
	return n
}

func (l *lexicon) verbStep(at int32, word uint16, glue bool) int32 {
	for _, e := range l.verbs[at].next {
		if e.word == word && e.glue == glue {
			return e.node
		}
	}
	return -1
}

// addJoinable puts a word into the tree from which joined words are taken apart.
func (l *lexicon) addJoinable(word string, a atom) {
	switch a.class {
	case classUnit, classTeen, classTens, classHundred, classHundreds, classThousand:
	case classA:
		if a.roles&roleLink == 0 {
			return
		}
		a.roles, a.article = roleLink, 0
	case classZero, classOh, classAnd, classMinus, classPoint, classDigits:
		return
	}
	at := int32(0)
	for i := 0; i < len(word); i++ {
		c := word[i] - 'a'
		if l.trie[at].next[c] == 0 {
			l.trie[at].next[c] = int32(len(l.trie))
			l.trie = append(l.trie, trieNode{})
		}
		at = l.trie[at].next[c]
	}
	l.atoms = append(l.atoms, a)
	l.trie[at].atom = int32(len(l.atoms))
}

// tableOf returns the table of a language, or nil.
func (l *lexicon) tableOf(x lang.Language) *table {
	for _, t := range l.tables {
		if t.language == x {
			return t
		}
	}
	return nil
}
