package runtime

// AnySession stands for the id of a session that has not begun: every adapter that can go
// on with sessions takes it for one.
const AnySession = "ses_0"
