/* The global `pybossa` that task presenters call, on the presenter bridge.  Own code with the calls of the field's library;
   needs no jQuery, but its deferreds read like jQuery's (a presenter resolves them and chains done/fail).
   A presenter that loads its own copy of the library overwrites these methods one by one, so this stays a plain object. */
(function (pybossa, bridge) {
  "use strict";
  if (!bridge) return;
  var known = {};  // tasks by id, as they came: saving an answer needs no second look
  var taskLoaded = function (task, deferred) { deferred.resolve(task); };
  var presentTask = function (task, deferred) { deferred.resolve(task); };

  /* Without what it returns: a deferred, which `then` would wait for, whose `then` would … */
  function hand(settle) { return function () { settle.apply(null, arguments); }; }

  function Deferred() {
    var state = "pending", values = [], callbacks = [], self = {};
    function settle(next) {
      return function () {
        if (state !== "pending") return self;
        state = next;
        values = arguments;
        callbacks.splice(0).forEach(function (run) { run(); });
        return self;
      };
    }
    function on(wanted) {
      return function () {
        [].concat.apply([], arguments).forEach(function (callback) {
          function run() { if (callback && (!wanted || wanted === state)) callback.apply(self, values); }
          if (state === "pending") callbacks.push(run); else run();
        });
        return this;
      };
    }
    self.done = on("resolved");
    self.fail = on("rejected");
    self.always = on("");
    self.progress = function () { return this; };
    self.state = function () { return state; };
    self.then = function (good, bad) {
      var next = Deferred();
      function pass(callback, settleNext) {
        return function () {
          if (typeof callback !== "function") return settleNext.apply(null, arguments);
          var value;
          try { value = callback.apply(null, arguments); } catch (error) { return next.reject(error); }
          if (!value || typeof value.then !== "function") return next.resolve(value);
          value.then(hand(next.resolve), hand(next.reject));
        };
      }
      self.done(pass(good, next.resolve)).fail(pass(bad, next.reject));
      return next.promise();
    };
    self["catch"] = function (bad) { return self.then(null, bad); };
    self.promise = function () { return self; };
    self.resolve = settle("resolved");
    self.reject = settle("rejected");
    return self;
  }

  function call(method, path, body) {
    var deferred = Deferred();
    bridge.api(method, "/api/" + path, body && JSON.stringify(body)).then(function (reply) {
      var data;
      try { data = JSON.parse(reply.body); } catch (error) { data = undefined; }
      if (reply.status >= 200 && reply.status < 300) deferred.resolve(data);
      else deferred.reject({ status: reply.status, statusText: "", responseText: reply.body, responseJSON: data }, "error", "");
    });
    return deferred;
  }
  function project(name) {
    return call("GET", "project?all=1&short_name=" + encodeURIComponent(name)).then(function (found) { return found[0]; });
  }
  function remember(task) {
    if (task && task.id) known[task.id] = task;
    return task;
  }
  function newTask(id, offset) { return call("GET", "project/" + id + "/newtask?offset=" + (offset || 0)).then(remember); }
  function fetchTask(id) { return call("GET", "task/" + id).then(remember); }
  function currentTaskId(path) {
    var parts = path.split("/"), at = parts.indexOf("task");
    return at >= 0 && parts[at + 1] !== undefined ? parts[at + 1] : false;
  }

  pybossa.taskLoaded = function (callback) { taskLoaded = callback; };
  pybossa.presentTask = function (callback) { presentTask = callback; };
  pybossa.setEndpoint = function (url) { return /\/$/.test(url) ? url : url + "/"; };  // here the server is always the page's
  pybossa.getCurrentTaskId = function (url) { return currentTaskId(url === undefined ? bridge.path() : url); };
  pybossa.userProgress = function (name) { return call("GET", "project/" + encodeURIComponent(name) + "/userprogress"); };
  pybossa.newTask = function (name) {
    return project(name).then(function (found) {
      return newTask(found.id).then(function (task) { return { question: found.description, task: task }; });
    });
  };
  /* `more` are further attributes of the task run. */
  pybossa.saveTask = function (task, answer, more) {
    if (typeof task !== "object") {
      if (known[task]) return pybossa.saveTask(known[task], answer, more);
      return fetchTask(task).then(function (found) { return pybossa.saveTask(found, answer, more); });
    }
    task.answer = answer;
    return call("POST", "taskrun", Object.assign({}, more, { project_id: task.project_id, task_id: task.id, info: answer }));
  };
  /* Gives a task back; it comes to this volunteer last. */
  pybossa.skipTask = function (task) {
    return call("POST", "task/" + (typeof task === "object" ? task.id : task) + "/release", { skip: true });
  };
  /* With {again: true} presentTask may be called once more for a task that was answered, while another one is open. */
  pybossa.run = function (name, options) {
    var open = null, behind = null;  // what is shown, and what was open before it was shown once more
    function present(task, solved) {
      open = { task: task, solved: solved };
      if (task && task.id) history.pushState({}, "", "/project/" + name + "/task/" + task.id);
      presentTask(task, solved);
    }
    function goBack() {
      var before = behind;
      behind = null;
      if (before) present(before.task, before.solved);
    }
    function showAgain(event) {
      var task = known[event.detail.task], solved = Deferred();
      if (event.detail.task === null ? !behind : !task || !open || behind) return;
      event.preventDefault();
      if (event.detail.task === null) return goBack();
      behind = open;
      solved.done(goBack);
      present(task, solved);
    }
    if (options && options.again) document.addEventListener("crowdd:again", showAgain);
    function load(found, offset, previous) {  // the next task is fetched and prepared while the present one is answered
      var id = !previous && currentTaskId(bridge.path()), loaded = Deferred();
      (id ? fetchTask(id) : newTask(found.id, offset)).done(function (task) {
        if (!previous || task.id !== previous.id) taskLoaded(task, loaded);
        else newTask(found.id, offset + 1).done(function (second) { taskLoaded(second, loaded); });
      });
      return loaded;
    }
    function loadAgain(found) {
      var loaded = Deferred();
      newTask(found.id, 0).done(function (task) { taskLoaded(task, loaded); });
      return loaded;
    }
    function loop(found, task) {
      var solved = Deferred(), next = load(found, 1, task);
      present(task, solved);
      next.done(function (following) {
        solved.done(function () {
          if (following && following.id) return loop(found, following);
          // The last tasks are not handed out in advance: none to preload does not mean that none is left.
          loadAgain(found).done(function (fresh) { loop(found, fresh); });
        });
      });
    }
    project(name).done(function (found) {
      if (!found) return console.warn("pybossa.run('" + name + "'): this page shows another project.");
      load(found, 0).done(function (task) { loop(found, task); });
    });
  };
})(window.pybossa = window.pybossa || {}, window.presenterBridge);
