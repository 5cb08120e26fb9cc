package secret

// tokens lists the credentials that are a known literal and a run of characters.
// The lengths are lower bounds: what is longer is taken out whole.
func tokens() []rule {
	rules := append(forgeTokens(), cloudTokens()...)
	return append(rules, serviceTokens()...)
}

func forgeTokens() []rule {
	return []rule{
		token("github-token", alnum, 30, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		token("github-token", word, 30, "github_pat_"),
		token("gitlab-token", wordDot, 16, "glpat-", "glptt-", "gldt-", "glft-", "glimt-", "glrt-", "glsoat-", "glcbt-", "glffct-", "glagent-", "gloas-"),
		token("gitlab-token", wordDash, 20, "GR1348941"),
		token("gitlab-token", alnum, 30, "_gitlab_session="),
		folded(token("npm-token", alnum, 30, "npm_")),
		token("pypi-token", wordDash, 40, "pypi-AgE"),
		token("rubygems-token", hexDigits, 40, "rubygems_"),
		folded(token("clojars-token", alnum, 50, "clojars_")),
		weak("artifactory-key", alnum, 60, "AKCp"),
		weak("artifactory-key", alnum, 50, "cmVmd"),
		folded(token("sourcegraph-token", word, 40, "sgp_")),
		token("sonar-token", wordDash, 35, "squ_", "sqp_", "sqa_"),
		folded(token("atlassian-token", tokenSet, 60, "atatt3", "atctt3")),
		weak("octopus-key", upperNum, 26, "API-"),
	}
}

func cloudTokens() []rule {
	return []rule{
		weak("aws-key-id", upperNum, 16, "AKIA", "ASIA", "ABIA", "ACCA"),
		weak("aws-key-id", upperNum, 17, "A3T"),
		weak("aws-bedrock-key", base64Set, 60, "ABSK"),
		token("aws-bedrock-key", base64Set, 20, "bedrock-api-key-"),
		token("google-key", wordDash, 30, "AIza"),
		token("google-oauth", wordDash, 24, "GOCSPX-"),
		weak("alibaba-key", alnum, 20, "LTAI"),
		token("digitalocean-token", hexDigits, 60, "doo_v1_", "dop_v1_"),
		folded(token("digitalocean-token", hexDigits, 60, "dor_v1_")),
		weak("cloudflare-key", set("a-f0-9-"), 100, "v1.0-"),
		weak("databricks-token", set("a-f0-9-"), 32, "dapi"),
		token("flyio-token", wordDash, 43, "fo1_"),
		token("flyio-token", base64Set, 80, "fm1r_", "fm1a_", "fm2_"),
		token("heroku-key", wordDash, 50, "HRKU-AA"),
		weak("pulumi-token", hexDigits, 40, "pul-"),
		weak("yandex-key", wordDash, 35, "AQVN"),
		token("vault-token", wordDash, 80, "hvs.", "hvb.", "hvr."),
		token("openshift-token", wordDash, 43, "sha256~"),
		token("scalingo-token", wordDash, 48, "tk-us-"),
		token("doppler-token", alnum, 40, "dp.pt.", "dp.st.", "dp.ct.", "dp.sa."),
		token("dynatrace-token", wordDot, 80, "dt0c01."),
		token("infracost-key", alnum, 32, "ico-"),
		token("planetscale-token", tokenSet, 32, "pscale_tkn_", "pscale_oauth_"),
		folded(token("planetscale-token", tokenSet, 32, "pscale_pw_")),
		token("prefect-token", alnum, 36, "pnu_"),
	}
}

func serviceTokens() []rule {
	return append(modelTokens(), []rule{
		token("slack-token", wordDot, 8, "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.", "xapp-"),
		folded(token("slack-token", wordDot, 20, "xapp-", "xoxe-", "xoxe.", "xoxb-", "xoxp-")),
		token("slack-webhook", set("a-zA-Z0-9+/_-"), 40, "hooks.slack.com/"),
		token("teams-webhook", set("a-zA-Z0-9@/-"), 60, ".webhook.office.com/webhookb2/"),
		token("stripe-key", alnum, 10, "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "whsec_"),
		token("square-token", wordDash, 22, "sq0atp-", "sq0csp-"),
		weak("square-token", wordDash, 22, "EAAA"),
		weak("facebook-token", alnum, 80, "EAAM", "EAAC"),
		weak("onepassword-key", set("A-Z0-9-"), 30, "A3-"),
		token("onepassword-token", base64Set, 100, "ops_eyJ"),
		weak("adobe-secret", alnum, 32, "p8e-"),
		folded(token("age-key", alnum, 50, "age-secret-key-1")),
		weak("clickhouse-key", alnum, 38, "4b1d"),
		token("duffel-token", tokenSet, 40, "duffel_test_", "duffel_live_"),
		token("easypost-token", alnum, 54, "EZAK", "EZTK"),
		token("flutterwave-key", wordDash, 12, "FLWSECK_TEST-", "FLWPUBK_TEST-", "FLWSECK-"),
		token("frameio-token", tokenSet, 60, "fio-u-"),
		folded(token("grafana-token", base64Set, 32, "glc_", "glsa_")),
		folded(weak("grafana-token", base64Set, 70, "eyjrijoi")),
		token("intra42-secret", alnum, 64, "s-s4t2ud-", "s-s4t2af-"),
		token("linear-key", alnum, 40, "lin_api_"),
		token("newrelic-key", wordDash, 19, "NRJS-", "NRII-", "NRAK-"),
		token("notion-token", alnum, 40, "ntn_"),
		token("plaid-token", wordDash, 36, "access-sandbox-", "access-development-", "access-production-"),
		token("postman-token", set("a-fA-F0-9-"), 59, "PMAK-"),
		token("readme-token", alnum, 70, "rdme_"),
		token("sendgrid-token", tokenSet, 60, "SG."),
		token("sendinblue-token", wordDash, 64, "xkeysib-"),
		token("sentry-token", tokenSet, 50, "sntrys_", "sntryu_"),
		token("settlemint-token", alnum, 16, "sm_aat_", "sm_pat_", "sm_sat_"),
		token("shippo-token", hexDigits, 40, "shippo_live_", "shippo_test_"),
		token("shopify-token", hexDigits, 32, "shpat_", "shpca_", "shppa_", "shpss_"),
		folded(token("typeform-token", tokenSet, 55, "tfp_")),
		weak("twilio-key", hexDigits, 31, twilio()...),
	}...)
}

func modelTokens() []rule {
	return []rule{
		token("anthropic-key", wordDash, 20, "sk-ant-"),
		token("openai-key", wordDash, 20, "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-"),
		weak("openai-key", alnum, 20, "sk-"),
		weak("huggingface-token", letters, 30, "hf_", "api_org_"),
		token("perplexity-key", alnum, 40, "pplx-"),
		token("groq-key", alnum, 40, "gsk_"),
		token("xai-key", alnum, 60, "xai-"),
	}
}

// twilio spells the first hexadecimal digit out: two letters are no anchor.
func twilio() []string {
	var lits []string
	for c := range hexDigits {
		if hexDigits[c] {
			lits = append(lits, "SK"+string(rune(c)))
		}
	}
	return lits
}
