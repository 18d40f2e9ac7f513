import { readFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

let ts

export async function initialize ({ typescript }) {
  ts = (await import(pathToFileURL(typescript))).default
}

// Types are removed and nothing is checked, as Node does it from 22.6 on.
export async function load (url, context, next) {
  if (!/\.m?ts$/.test(url)) return next(url, context)
  const fileName = fileURLToPath(url)
  const { outputText } = ts.transpileModule(await readFile(fileName, 'utf8'), {
    fileName,
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      verbatimModuleSyntax: true,
      inlineSourceMap: true
    }
  })
  return { format: 'module', source: outputText, shortCircuit: true }
}
