'use strict'

const path = require('node:path')
const isForeign = require('./is-foreign')

const parsed = new Map()

/**
 * What a compiler reports about a program. The declarations of its library and of other packages are parsed once for
 * all programs of a process.
 *
 *    report(require('typescript'), { rootNames: ['/app/a.ts'], options: {} }) // '' if nothing is wrong
 *
 * @param {object} ts the compiler
 * @param {{ rootNames: string[], options: object, errors?: object[] }} program errors: those of its options
 * @param {string[]} [files] the files that are checked; otherwise all that kone and the project wrote
 * @return {string}
 */
exports.report = function (ts, { rootNames, options, errors = [] }, files) {
  const program = ts.createProgram({ rootNames, options, host: sharing(ts.createCompilerHost(options)) })
  const checked = files
    ? files.map(file => program.getSourceFile(file))
    : program.getSourceFiles().filter(({ fileName }) => !isForeign(fileName))
  const found = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...checked.flatMap(file => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
  ]
  return ts.formatDiagnostics(found, {
    getCanonicalFileName: file => file,
    getCurrentDirectory: () => process.cwd(),
    getNewLine: () => '\n'
  }).trim()
}

/**
 * A program of one file that is not on the disk.
 *
 * @param {object} ts
 * @param {string} file its path, below which imports are resolved
 * @param {string} text
 * @param {object} options of the compiler
 * @return {{ program: object, source: object, found: string[] }} found: what is wrong with the file
 */
exports.inMemory = function (ts, file, text, options) {
  const host = sharing(ts.createCompilerHost(options))
  const { fileExists, getSourceFile } = host
  host.fileExists = name => name === file || fileExists(name)
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, text, ...rest) : getSourceFile.call(host, name, ...rest)
  const program = ts.createProgram([file], options, host)
  const source = program.getSourceFile(file)
  const found = program.getSemanticDiagnostics(source).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
  return { program, source, found }
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

// node compile.js node_modules/typescript-6 tsconfig.a.json tsconfig.b.json: a JSON list of what it reports about each
if (require.main === module) {
  const [compiler, ...configs] = process.argv.slice(2)
  const ts = require(path.resolve(compiler))
  console.log(JSON.stringify(configs.map(config => {
    const { options, fileNames: rootNames, errors } = ts.getParsedCommandLineOfConfigFile(path.resolve(config), {}, {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: diagnostic => { throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')) }
    })
    return exports.report(ts, { rootNames, options, errors })
  })))
}
