package private

// environment leads a job's tools into its private folder.
func (d Dir) environment(ask Ask) []string {
	env := []string{
		"TMPDIR=" + d.in("tmp"), "TMP=" + d.in("tmp"), "TEMP=" + d.in("tmp"),
		"XDG_RUNTIME_DIR=" + d.in("run"),
		"XDG_CACHE_HOME=" + d.in("cache"),
		"PIP_CACHE_DIR=" + d.in("cache/pip"),
		"UV_CACHE_DIR=" + d.in("cache/uv"),
		"YARN_GLOBAL_FOLDER=" + d.in("cache/yarn-berry"),
		"GOTMPDIR=" + d.in("tmp"),
		"GOCACHE=" + d.in("go-build"),
		"npm_config_cache=" + d.in("npm"),
		"npm_config_logs_dir=" + d.in("npm/_logs"),
		"GRADLE_USER_HOME=" + d.in("gradle"),
	}
	if v := goCacheProgram(ask, d.in("go-build")); v != "" {
		env = append(env, "GOCACHEPROG="+v)
	}
	return env
}
