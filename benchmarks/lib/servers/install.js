'use strict'

const { execSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

// kone is run from the checkout around this folder; npm installs only what this folder itself needs.
const root = path.join(__dirname, '../../..')
if (!fs.existsSync(path.join(root, 'node_modules'))) {
  execSync('npm ci --no-audit --no-fund', { cwd: root, stdio: 'inherit' })
}
