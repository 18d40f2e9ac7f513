'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after } = require('node:test')

/**
 * A temporary folder, removed after the tests of this file.
 *
 *    const root = folder({ 'page.html': 'hi', 'docs/index.html': 'docs' })
 *
 * @param {{ [name: string]: string|Buffer }} [files] content by name
 * @return {string} its path
 */
module.exports = function folder (files = {}) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'kone-')))
  after(() => fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    fs.writeFileSync(path.join(root, name), content)
  }
  return root
}
