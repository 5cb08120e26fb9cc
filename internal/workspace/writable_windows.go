package workspace

// Writable says nothing on Windows, where only trying would tell.
func (r *Repo) Writable() error { return nil }
