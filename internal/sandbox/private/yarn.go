package private

import "path/filepath"

// yarnFolder is where Yarn from 2 on keeps what all projects share; "" = none.
func yarnFolder(getenv func(string) string) string {
	return set(getenv("YARN_GLOBAL_FOLDER"), under(getenv("HOME"), ".yarn/berry"))
}

// seedYarn links into the private caches what the person's Yarn has downloaded: packages
// are single files (from 2 on) or folders (1) there, found by name and hash.
func (d Dir) seedYarn(ask Ask) {
	if !anyHas(ask.Trees, "yarn.lock") {
		return
	}
	left := mostLinks
	if berry := yarnFolder(ask.Getenv); berry != "" {
		left -= mirror(filepath.Join(berry, "cache"), d.in("yarn/cache"), 0, left)
	}
	if home := cacheHome(ask.Getenv); home != "" {
		mirror(filepath.Join(home, "yarn", "v6"), d.in("cache/yarn/v6"), 0, left)
	}
}

// pnpmNames are the variables by which pnpm is told its store. npm complains of the older
// one, so that is only there for a project of pnpm's, where pnpm would otherwise put its
// store into the tree: that is all that it may write to.
func pnpmNames(trees []string) []string {
	if anyHas(trees, "pnpm-lock.yaml") {
		return []string{"pnpm_config_store_dir", "npm_config_store_dir"}
	}
	return []string{"pnpm_config_store_dir"}
}

// pnpmStore is the person's; "" = none.
func pnpmStore(getenv func(string) string) string {
	data := set(getenv("XDG_DATA_HOME"), under(getenv("HOME"), ".local/share"))
	return under(set(getenv("PNPM_HOME"), under(data, "pnpm")), "store")
}
