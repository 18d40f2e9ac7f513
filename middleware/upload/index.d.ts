import type { Middleware } from '../../lib/index'

declare function upload (options?: upload.Options): Middleware

declare namespace upload {
  interface Limits {
    /** bytes of each file; default '10mb' */
    fileSize?: number | string
    /** default 20 */
    files?: number
    /** default 100 */
    fields?: number
    /** bytes of each field; default '1mb' */
    fieldSize?: number | string
  }

  interface Options {
    /** an existing folder; default the system's for temporary files */
    dest?: string
    limits?: Limits
  }

  interface File {
    fieldname: string
    /** the name that the client sent: never use it as a path */
    originalname: string
    mimetype: string
    /** bytes */
    size: number
    /** removed after the response is sent, if it is still there */
    path: string
  }
}

declare module '../../lib/index' {
  interface Request {
    files?: upload.File[]
  }
}

export = upload
