'use strict'

const fs = require('fs')
const { createRequire } = require('module')
const path = require('path')
const escapeHtml = require('escape-html')

/** The packages that show a document: their files, and the script that starts them. helmet allows none inline. */
const PACKAGES = {
  scalar: {
    name: '@scalar/api-reference',
    files: { 'page.js': 'dist/browser/standalone.js' },
    start: url => `Scalar.createApiReference('#page', { url: ${url}, withDefaultFonts: false })`
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
      try {
        const script = PACKAGES[name].files['page.js']
        const file = createRequire(from).resolve(`${PACKAGES[name].name}/${script}`)
        return { name, folder: file.slice(0, -script.length) }
      } catch {
        // not there
      }
    }
  }
}

/**
 * @param {{ name: string, folder: string }} found
 * @param {string} at path of the page
 * @param {string} json path of the document
 * @return {Map<string, { type: string, read: function(): Promise<Buffer | string> }>} path → file
 */
function filesOf ({ name, folder }, at, json) {
  const { files, start } = PACKAGES[name]
  const base = at.replace(/\/$/, '')
  const style = 'page.css' in files ? `<link rel="stylesheet" href="${escapeHtml(base)}/page.css">` : ''
  const scripts = ['page', 'start'].map(one => `<script src="${escapeHtml(base)}/${one}.js"></script>`).join('')
  const html = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
    `<title>API</title>${style}<div id="page"></div>${scripts}</html>`
  const script = start(JSON.stringify(json))
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
