'use strict'

const path = require('node:path')
const isForeign = require('./is-foreign')

/**
 * One process compiles all programs of one compiler, so that the declarations of its library and of
 * other packages are parsed once, and checks only what kone and the project wrote:
 *
 *    node compile.js node_modules/typescript-6 tsconfig.a.json tsconfig.b.json
 *
 * prints JSON: what the compiler reports about each.
 */
const [compiler, ...configs] = process.argv.slice(2)
const ts = require(path.resolve(compiler))
const parsed = new Map()

console.log(JSON.stringify(configs.map(reports)))

function reports (config) {
  const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(path.resolve(config), {}, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: diagnostic => { throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')) }
  })
  const program = ts.createProgram({ rootNames: fileNames, options, host: sharing(ts.createCompilerHost(options)) })
  const found = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...program.getSourceFiles().filter(({ fileName }) => !isForeign(fileName)).flatMap(file => [
      ...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)
    ])
  ]
  return ts.formatDiagnostics(found, {
    getCanonicalFileName: file => file,
    getCurrentDirectory: () => process.cwd(),
    getNewLine: () => '\n'
  }).trim()
}

// A declaration file is the same tree under all settings but for its format, which the key has.
function sharing (host) {
  const { getSourceFile } = host
  host.getSourceFile = (fileName, target, ...rest) => {
    if (!isForeign(fileName)) return getSourceFile.call(host, fileName, target, ...rest)
    const key = `${fileName} ${target.languageVersion} ${target.impliedNodeFormat}`
    if (!parsed.has(key)) parsed.set(key, getSourceFile.call(host, fileName, target, ...rest))
    return parsed.get(key)
  }
  return host
}
