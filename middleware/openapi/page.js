'use strict'

const fs = require('fs')
const { createRequire } = require('module')
const path = require('path')
const escapeHtml = require('escape-html')

// Without what sends something to Scalar's servers.
const SCALAR = "{ withDefaultFonts: false, telemetry: false, showDeveloperTools: 'never', agent: { disabled: true }, mcp: { disabled: true }"
// Scalar's zod tries `new Function` when it is loaded, which a policy reports.
const NO_EVAL = 'globalThis.__zod_globalConfig = { jitless: true }\n'

/** The packages that show a document: their files, and the script that starts them. helmet allows none inline. */
const PACKAGES = {
  scalar: {
    name: '@scalar/api-reference',
    files: { 'page.js': 'dist/browser/standalone.js' },
    before: NO_EVAL,
    start: url => `Scalar.createApiReference('#page', ${SCALAR}, url: ${url} })`
  },
  swagger: {
    name: 'swagger-ui-dist',
    files: { 'page.js': 'swagger-ui-bundle.js', 'page.css': 'swagger-ui.css' },
    start: url => `SwaggerUIBundle({ url: ${url}, dom_id: '#page', validatorUrl: null })`
  }
}

/**
 * @param {'scalar' | 'swagger' | undefined} ui default: the one that is installed
 * @return {{ name: string, folder: string } | undefined} of PACKAGES, and where it is installed
 */
function find (ui) {
  for (const name of ui === undefined ? Object.keys(PACKAGES) : [ui]) {
    for (const from of [__filename, path.resolve('package.json')]) {
      const folder = folderOf(PACKAGES[name], createRequire(from))
      if (folder !== undefined) return { name, folder }
    }
  }
}

// Scalar exports neither its script nor its package.json: the folder is one above its main file.
function folderOf ({ name, files }, require) {
  try {
    const main = require.resolve(name)
    for (let folder = path.dirname(main); folder !== path.dirname(folder); folder = path.dirname(folder)) {
      if (fs.existsSync(path.join(folder, files['page.js']))) return folder
    }
  } catch {
    // not installed
  }
}

/**
 * @param {{ name: string, folder: string }} found
 * @param {string} at path of the page
 * @param {string} json path of the document
 * @return {Map<string, { type: string, read: function(): Promise<Buffer | string> }>} path → file
 */
function filesOf ({ name, folder }, at, json) {
  const { before = '', files, start } = PACKAGES[name]
  const base = at.replace(/\/$/, '')
  const style = 'page.css' in files ? `<link rel="stylesheet" href="${escapeHtml(base)}/page.css">` : ''
  const scripts = ['start', 'page'].map(one => `<script src="${escapeHtml(base)}/${one}.js"></script>`).join('')
  const html = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>API</title>${style}<div id="page"></div>${scripts}</html>`
  const script = `${before}addEventListener('load', () => ${start(JSON.stringify(json))})`
  const served = new Map([
    [at, { type: 'html', read: async () => html }],
    [`${base}/start.js`, { type: 'js', read: async () => script }]
  ])
  for (const [file, source] of Object.entries(files)) {
    let bytes
    const read = async () => {
      bytes ??= await fs.promises.readFile(path.join(folder, source))
      return bytes
    }
    served.set(`${base}/${file}`, { type: path.extname(file).slice(1), read })
  }
  return served
}

module.exports = { filesOf, find, names: Object.values(PACKAGES).map(({ name }) => name) }
