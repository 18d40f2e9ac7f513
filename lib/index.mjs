import Application from './application.js'

export default Application
export { Application as Kone }
export const { HttpError, createHttpError, isHttpError, compose } = Application
