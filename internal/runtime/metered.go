package runtime

// Told says how reliably a program reports something.
type Told string

// How reliably.
const (
	ToldAlways    Told = "always"
	ToldSometimes Told = "sometimes" // by provider, model or version
	ToldNever     Told = "never"
	ToldUnknown   Told = "" // nothing shows it
)

// Metered says what a program reports of what an attempt took, as recordings show. It
// is for saying before a run what a budget cannot hold; what an attempt really
// reported is what counts.
type Metered struct{ USD, Tokens Told }

// Meter is implemented by adapters that know what their program reports.
type Meter interface {
	Metered() Metered
}

// MeteredBy is what is known of an adapter's program.
func MeteredBy(a Adapter) Metered {
	if m, ok := a.(Meter); ok {
		return m.Metered()
	}
	return Metered{}
}
