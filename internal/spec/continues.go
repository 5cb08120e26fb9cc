package spec

// GoesOn reports whether the job goes on with a session that another job has begun, of this
// run or of another.
func (j *Job) GoesOn() bool {
	return j.Continue != "" || j.Worker != nil && j.Worker.Resumes != nil
}
