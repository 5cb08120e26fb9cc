package policy

import "path/filepath"

// personal are the places below the home folder where people and their tools keep keys.
var personal = []string{
	".ssh", ".aws", ".gnupg", ".azure", ".kube", ".password-store", ".netrc", "_netrc", ".authinfo", ".authinfo.gpg",
	".pgpass", ".my.cnf", ".git-credentials", ".docker/config.json", ".pypirc", ".cargo/credentials",
	".cargo/credentials.toml", ".gem/credentials", ".terraform.d/credentials.tfrc.json", ".vault-token",
	".local/share/keyrings", ".gnome2/keyrings",
}

// personalConfig are those below the folder for configuration.
var personalConfig = []string{
	"gh", "gcloud", "git/credentials", "hub", "containers/auth.json", "op", "sops", "rclone", "doctl", "glab-cli",
}

// Personal are the folders and files that hold a person's own keys: no job in the
// sandbox reads them unless its operator says so. config is the folder for
// configuration where it is not ~/.config; "" = it is.
func Personal(home, config string) (all []string) {
	for _, name := range personal {
		all = append(all, filepath.Join(home, name))
	}
	usual := filepath.Join(home, ".config")
	for _, name := range personalConfig {
		all = append(all, filepath.Join(usual, name))
		if filepath.IsAbs(config) && filepath.Clean(config) != usual {
			all = append(all, filepath.Join(config, name))
		}
	}
	return all
}
