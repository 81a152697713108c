#ifndef COOPER_MODULE_FIT_STOP_SIGNAL_H_
#define COOPER_MODULE_FIT_STOP_SIGNAL_H_

// Catches Ctrl-C (SIGINT) and SIGTERM, so that a training can save its state and end.

namespace cooper {

// While an object exists, the first SIGINT or SIGTERM is only recorded; a second one has its
// previous effect. An object that is created while another exists does nothing. Handlers are global
// to the process. The handler only sets a number, so it is safe at any time.
class StopSignal {
 public:
  StopSignal();
  // Restores the signals' previous handlers.
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // Returns the number of the signal that came; 0 if none did.
  int received() const;

 private:
  bool installed_ = false;
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_STOP_SIGNAL_H_
